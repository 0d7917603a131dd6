-- The common case of a claim: exclusive, and the lock has no key, so nobody holds it or waits for it; of an exchange: held by
-- the claim that is given back (ARGV[4]), and nobody waits. It runs before the functions of lock.lua, and what it writes is
-- what they read: the client sends the state but for the number. If there is no number or a full server refuses, the other
-- files go on with the lock as it was.
if ARGV[4] and text and string.find(text, ARGV[4], 1, true) == 3 or not (ARGV[4] or text) then
  local able, given = pcall(next_number, ARGV[3])
  if able and redis.pcall('SET', KEYS[1], ARGV[1] .. given, 'PX', ARGV[2]).ok then
    redis.call('SET', counter, given)
    return ARGV[4] and '1' .. given or given
  end
end
