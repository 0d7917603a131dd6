-- The common case of a claim: exclusive, and the lock is free with nobody in the queue. It runs before lock.lua, so that
-- the functions there need not be created, and writes the same state. If a full server refuses, lock.lua frees or reports.
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
    if not redis.pcall('SET', KEYS[1], line, 'PX', ARGV[3] + LINGER).err then
      return '+' .. digits
    end
  end
end
