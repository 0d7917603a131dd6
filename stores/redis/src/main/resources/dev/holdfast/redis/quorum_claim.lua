-- Claims one lock on a member of a quorum, exclusively and without a queue. ARGV: what claim_free.lua would write, lease,
-- and in one word FLOOR WAITER LIFE JOINED: the milliseconds for which that counts as waiting if the lock is not free, and
-- the number of the grant that this member joins (0 for a new grant).
--
-- NUMBER; "-OWNER" if it is not free. A waiter is in the queue only by its deadline, so that it is counted and renewals
-- report it; release.lua and break.lua never offer it the lock.
local id, whom = string.match(ARGV[1], CLAIM)
local waiter, life, joined = string.match(ARGV[3], '^%d+ (%S+) (%d+) (%d+)$')
waiter, life = '@' .. waiter, tonumber(life)
purge()
if kind == 'F' and owner == id then
  return '-' .. id -- withdrawn before: this is the claim, come late
end
local given = holds(id, 'X', 1) and keep('X', 1, id, tonumber(ARGV[2]))
if not given and kind == 'F' then
  last, counted = next_number(ARGV[3]), true
  given = give('X', 1, id, tonumber(ARGV[2]), last, whom)
  if joined ~= '0' then
    given = rise(joined)
  end
elseif given and tonumber(given) < tonumber(joined) then -- granted here in the round; the request to raise it was lost
  given = rise(joined)
end
if given then
  if queued or life > 0 then -- a release has cleared the mark, not the queue
    redis.call('ZREM', queue, waiter)
    queued, changed = redis.call('ZCOUNT', queue, DEADLINES + now(), '+inf') > 0, true
  end
elseif life > 0 then
  -- Those who left without a word would otherwise stay for as long as anybody waits.
  redis.call('ZREMRANGEBYSCORE', queue, '(' .. FIRST_DEADLINE, '(' .. digits(DEADLINES + now()))
  redis.call('ZADD', queue, DEADLINES + now() + life * 1000, waiter)
  redis.call('PEXPIRE', queue, 2 * LINGER)
  if not queued then
    queued, changed = true, true
  end
end
save()
return given or '-' .. owner
