-- Returns the clock in microseconds and, after a blank, the record if there is one. KEYS[1]: the record, as
-- record_write.lua describes it.
local time = redis.call('TIME')
local record = redis.call('GET', KEYS[1])
if record and not string.match(record, '^%d+ %d+ %d+ ') then
  return redis.error_reply('HOLDFAST foreignrecord')
end
return string.format('%s%06d', time[1], time[2]) .. (record and ' ' .. record or '')
