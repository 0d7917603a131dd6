-- What a claim on a member of a quorum begins with: a member that may have lost its data takes no part. ARGV: as in
-- quorum_claim.lua; the second is the lease.
--
-- holdfast:quorum   1 LONGEST READY RUN: the longest lease in milliseconds that was ever asked for here; the microsecond
--                   until which the member sits out, or 0; the run id of the server process that last greeted a client, or -
--                   for any, or ? while it is not known for how long it has to sit out. The key is missing on a member that
--                   is new or has lost its data.
--
-- "?" if the key is missing or says so, "~MILLISECONDS" while the member sits out.
local longest, ready, run = string.match(redis.call('GET', 'holdfast:quorum') or '', '^1 (%d+) (%d+) (%S+)$')
if not longest or run == '?' then
  return '?'
end
if ready ~= '0' then
  local time = redis.call('TIME')
  local rest = tonumber(ready) - (time[1] * 1000000 + time[2])
  if rest > 0 then
    return string.format('~%.0f', rest / 1000 + 1)
  end
end
if tonumber(ARGV[2]) > tonumber(longest) then
  redis.call('SET', 'holdfast:quorum', '1 ' .. ARGV[2] .. ' ' .. ready .. ' ' .. run)
end
