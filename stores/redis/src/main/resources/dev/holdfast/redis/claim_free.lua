-- What most claims meet: an exclusive one, and a lock that is free and that nobody waits for. It comes before lock.lua,
-- whose functions are then not even made, and writes what they would.
if ARGV[2] == 'X' and (ARGV[7] or '0') == '0' then
  local last, owner = 0, '-'
  if text then
    last, owner = string.match(text, '^1 (%d+) 0 F (%S+) ')
  end
  if last and owner ~= ARGV[1] then
    local time = redis.call('TIME')
    local now = time[1] * 1000000 + time[2]
    local since = string.format('%.0f', now)
    local number = math.max(last + 1, ARGV[4] + 1, now)
    local digits = number == now and since or string.format('%.0f', number)
    local line = '1 ' .. digits .. ' 0 X ' .. ARGV[1] .. ' ' .. since .. ' ' .. ARGV[5]
    if not redis.pcall('SET', KEYS[1], line, 'PX', ARGV[3] + 30000).err then
      return '+' .. digits
    end
  end
end
