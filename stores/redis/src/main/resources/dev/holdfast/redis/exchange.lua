-- Gives an exclusive lock back and claims it anew for the same client, behind all who wait: what a client does that
-- passes the lock on while it wants it again. ARGV: id, attempt, then those of the claim. Both answers, one after the
-- other.
local released = release(ARGV[1], 'X', 1, ARGV[2])
local answer = claim(2)
save()
return released .. answer
