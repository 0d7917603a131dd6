-- The common case of a claim: exclusive, and the lock has no key, so nobody holds it or waits for it; of an exchange: held by
-- the claim that is given back (ARGV[4]), and nobody waits. It runs before the functions of lock.lua, and what it writes is
-- what they read: the client sends the state but for the number. Numbers stay text, because to write the sixteen digits of
-- one takes as long as a command: texts of sixteen digits compare as their numbers do, also before what follows the floor in
-- its word. If there is no number, or a full server refuses, the other files go on with the lock as it was.
--
-- And a try (no CHANNEL, so two blanks) of a lock that another claim holds exclusively: without a + the key lives as long as
-- the lease, so the lock is held.
if text and not ARGV[4] then
  local owner = string.sub(ARGV[3], 17, 20) == ' X  ' and string.match(text, '^1 X (%x+) %S+ .* %d+$')
  if owner and string.find(ARGV[1], owner, 5, true) ~= 5 then
    return '-'
  end
elseif not ARGV[4] or (text and string.find(text, ARGV[4], 1, true) == 3) then
  local counter = KEYS[2] or 'holdfast:number'
  local time, last = redis.call('TIME'), redis.pcall('GET', counter)
  local now = time[1] .. (#time[2] == 6 and time[2] or string.sub('00000' .. time[2], -6))
  local able, given = #now == 16 and ARGV[3] < now and (not last or (#last == 16 and last < now)), now
  if not able then
    able, given = pcall(above, now, last, ARGV[3])
  end
  if able and redis.pcall('SET', KEYS[1], ARGV[1] .. given, 'PX', ARGV[2]).ok then
    redis.call('SET', counter, given)
    return ARGV[4] and '1' .. given or given
  end
end
