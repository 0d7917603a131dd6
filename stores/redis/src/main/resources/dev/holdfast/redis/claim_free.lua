-- The common case of a claim: exclusive, and the lock has no key, so nobody holds it or waits for it. It runs before all
-- other files, and what it writes is what they read: the client sends the state but for the number. state.lua tells why the
-- numbers rise. Numbers stay text, because to write the sixteen digits of one takes as long as a command: texts of sixteen
-- digits compare as their numbers do, also before what follows the floor in its word. If the time is not above the floor
-- and the last number, since the clock was set back, or a full server refuses, the other files go on with the lock as it was.
local counter = KEYS[2] or 'holdfast:number'
local time = redis.call('TIME')
local now = time[1] .. (#time[2] == 6 and time[2] or string.sub('00000' .. time[2], -6))
local set = #now == 16 and ARGV[3] < now and redis.pcall('SET', KEYS[1], ARGV[1] .. now, 'NX', 'PX', ARGV[2])
if set and set.ok then
  local last = redis.pcall('GETSET', counter, now)
  if not last or (#last == 16 and last < now) then
    return now
  end
  redis.call('DEL', KEYS[1])
  if not last.err then
    redis.call('SET', counter, last)
  end
end
