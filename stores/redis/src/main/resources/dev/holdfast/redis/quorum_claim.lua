-- Claims one lock on a member of a quorum, exclusively and without a queue. ARGV: id, lease, who, floor, waiter,
-- milliseconds for which that counts as waiting if the lock is not free, the number of the grant that this member joins
-- (0 for a new grant).
--
-- "+NUMBER"; "-OWNER" if it is not free. A waiter is in the queue only by its deadline, so that it is counted and renewals
-- report it; release.lua and break.lua never offer it the lock.
local id, lease, waiter = ARGV[1], tonumber(ARGV[2]), '@' .. ARGV[5]
local life, joined = tonumber(ARGV[6]), tonumber(ARGV[7])
purge()
if kind == 'F' and owner == id then
  return '-' .. id -- withdrawn before: this is the claim, come late
end
local before = number
local given = holds(id, 'X', 1) and keep('X', 1, id, lease)
if not given and kind == 'F' then
  give('X', 1, id, lease, tonumber(ARGV[4]), ARGV[3])
  if joined > 0 then
    number = math.max(before, joined)
  end
  given = digits(number)
end
if given and number < joined then -- it was granted here in the round, and the request to raise its number was lost
  number, given, changed = joined, digits(joined), true
end
if given then
  if queued or life > 0 then -- a release has cleared the mark, not the queue
    redis.call('ZREM', queue, waiter)
    queued, changed = redis.call('ZCOUNT', queue, DEADLINES + now(), '+inf') > 0, true
  end
elseif life > 0 then
  -- Those who left without a word would otherwise stay for as long as anybody waits.
  redis.call('ZREMRANGEBYSCORE', queue, '(' .. digits(DEADLINES), '(' .. digits(DEADLINES + now()))
  redis.call('ZADD', queue, DEADLINES + now() + life * 1000, waiter)
  redis.call('PEXPIRE', queue, 2 * LINGER)
  if not queued then
    queued, changed = true, true
  end
end
save()
return given and '+' .. given or '-' .. owner
