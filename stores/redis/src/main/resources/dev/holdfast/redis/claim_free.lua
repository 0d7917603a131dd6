-- The common case of a claim: exclusive, and the lock is free with nobody in the queue. It runs before lock.lua, so that
-- the functions there need not be created, and writes the same state. Where a full server refuses, or the last number or
-- the floor (with which the fourth word begins) is not below the time, lock.lua goes on.
-- Numbers stay text, because to write the sixteen digits of one takes as long as a command: texts of sixteen digits
-- compare as their numbers do, also before what follows the floor. A shorter last number at worst goes on, and so does a
-- clock before September 2001.
local last, owner = '0', '-'
if text then
  last, owner = string.match(text, '^1 (%d+) 0 F (%S+) ')
end
if last and owner ~= ARGV[1] then
  local time = redis.call('TIME')
  local now = time[1] .. string.sub('00000' .. time[2], -6)
  if #now == 16 and last < now and ARGV[4] < now then
    local line = '1 ' .. now .. ' 0 X ' .. ARGV[1] .. ' ' .. now .. ' ' .. ARGV[3]
    if not redis.pcall('SET', KEYS[1], line, 'PX', ARGV[2] + LINGER).err then
      return '+' .. now
    end
  end
end
