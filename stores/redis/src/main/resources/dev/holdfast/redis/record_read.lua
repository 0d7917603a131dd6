-- Tells the clock in microseconds and, behind a blank, the record if there is one. KEYS[1]: the record, as record_write.lua
-- says.
local time = redis.call('TIME')
local record = redis.call('GET', KEYS[1])
return string.format('%s%06d', time[1], time[2]) .. (record and ' ' .. record or '')
