-- Tells of one lock: KIND LEFT NUMBER SINCE NOW WAITING OWNER WHO; of several holders the one whose lease ends last.
-- KIND is F when it is free; OWNER is the claim that holds it exclusively.
purge()
local waiting = queued and redis.call('ZCOUNT', queue, DEADLINES + now(), '+inf') or 0
local n, s, w = number, since, who
if kind == 'S' or kind == 'P' then
  local last = redis.call('ZRANGE', sharers, -1, -1, 'WITHSCORES')
  left = (last[2] - now()) / 1000
  n, s, w = string.match(redis.call('HGET', details, string.match(last[1], '^%x+')) or '0 0 ', '^(%d+) (%d+) (.*)$')
end
return string.format('%s %.0f %s %s %.0f %d %s %s', kind, left, n, s, now(), waiting, owner, w)
