-- What most releases meet: an exclusive hold that has not run out, and nobody waits. As claim_free.lua, it comes before
-- lock.lua, and writes what the functions there would.
if ARGV[2] == 'X' and not ARGV[5] then
  local last, owner = string.match(text or '', '^1 (%d+) 0 X (%S+) ')
  if owner == ARGV[1] and redis.call('PTTL', KEYS[1]) > 30000 then
    local line = '1 ' .. last .. ' 0 F ' .. owner .. ' ' .. ARGV[4] .. ' '
    if not redis.pcall('SET', KEYS[1], line, 'PX', 30000).err then
      return '1'
    end
  end
end
