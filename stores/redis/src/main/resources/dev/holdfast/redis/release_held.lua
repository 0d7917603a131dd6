-- The common case of a release: an exclusive hold, which is there for as long as its lease runs, and nobody waits. Like
-- claim_free.lua, it runs before lock.lua. The argument is the kind and the claim, as they stand in the state.
if text and not ARGV[2] and string.find(text, ARGV[1], 1, true) == 3 then
  redis.call('DEL', KEYS[1])
  return '1'
end
