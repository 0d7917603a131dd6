-- Greets a member of a quorum; quorum_ready.lua describes its key. ARGV: the server's run id (- if it cannot be read), how
-- long the member is to sit out if it may have lost data (nothing to ask only), a lease that is to be remembered.
--
-- "+LONGEST LEFT", LEFT being the milliseconds that it still sits out; "?0" if the key is missing, "!LONGEST" if the server
-- was started again since, and so may lack what it was told last. Until somebody knows for how long it has to sit out, the
-- key says ? in the place of the run id, and it grants nothing; but it renews, and remembers the leases of that.
local mine, rest, lease = ARGV[1], ARGV[2], ARGV[3]
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local longest, ready, run = string.match(redis.call('GET', 'holdfast:quorum') or '', '^1 (%d+) (%d+) (%S+)$')
local changed = longest ~= nil and tonumber(lease) > tonumber(longest)
if changed then
  longest = lease
end
if not longest or run == '?' or (mine ~= '-' and run ~= '-' and run ~= mine) then
  if rest == '' then
    if longest and (changed or run ~= '?') then
      redis.call('SET', 'holdfast:quorum', '1 ' .. longest .. ' ' .. ready .. ' ?')
    end
    return longest and '!' .. longest or '?0'
  end
  if not longest or tonumber(rest) > tonumber(longest) then
    longest = rest
  end
  ready, run, changed = string.format('%.0f', now + rest * 1000), mine, true
elseif run ~= mine and mine ~= '-' then
  run, changed = mine, true
end
if changed then
  redis.call('SET', 'holdfast:quorum', '1 ' .. longest .. ' ' .. ready .. ' ' .. run)
end
return string.format('+%s %.0f', longest, math.max(0, (tonumber(ready) - now) / 1000))
