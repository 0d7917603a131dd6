-- The common case of an exchange: an exclusive hold, and nobody waits. As claim_free.lua, but the key is there.
if text and string.find(text, ARGV[1], 1, true) == 3 then
  local counter = KEYS[2] or 'holdfast:number'
  local time = redis.call('TIME')
  local now = time[1] .. (#time[2] == 6 and time[2] or string.sub('00000' .. time[2], -6))
  if #now == 16 and ARGV[4] < now then
    local last = redis.pcall('GETSET', counter, now)
    if not last or (#last == 16 and last < now) then
      redis.call('SET', KEYS[1], ARGV[2] .. now, 'PX', ARGV[3])
      return '1' .. now
    end
    if not last.err then
      redis.call('SET', counter, last)
    end
  end
end
