-- Writes a record, unless a higher token wrote it before, or another revision is there than the one that is expected; then
-- answers with a minus. ARGV: the token, the expected revision (0: no record; -1: any), the value, the milliseconds to keep
-- it (0: remove what is there).
--
-- KEYS[1]  holdfast:{NAME}:r   TOKEN REVISION MICROSECOND VALUE; it expires after its time
--
-- A revision is the microsecond of its write, or above that if the clock was set back: a key that is gone needs no trace.
-- Tokens have up to 19 digits, more than the numbers of Lua can tell apart, so they are compared as text.
local token, revision = '', 0
local last = redis.call('GET', KEYS[1])
if last then
  token, revision = string.match(last, '^(%d+) (%d+) %d+ ')
  if not token then
    return redis.error_reply('HOLDFAST foreignrecord')
  end
end
if ARGV[2] ~= '-1' and tonumber(ARGV[2]) ~= tonumber(revision) then
  return '-'
end
if #token > #ARGV[1] or (#token == #ARGV[1] and token > ARGV[1]) then
  return '-'
end
local time = redis.call('TIME')
local micros = string.format('%s%06d', time[1], time[2])
local head = string.format('%s %.0f %s', ARGV[1], math.max(revision + 1, tonumber(micros)), micros)
if ARGV[4] == '0' then
  redis.call('DEL', KEYS[1])
else
  redis.call('SET', KEYS[1], head .. ' ' .. ARGV[3], 'PX', ARGV[4])
end
return head
