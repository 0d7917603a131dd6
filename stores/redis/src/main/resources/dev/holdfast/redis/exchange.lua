-- Gives an exclusive lock back and claims it anew for the same client, behind all who wait: what a client does that
-- passes the lock on while it wants it again. ARGV: X and the id, in one word, then those of the claim. Both answers, one
-- after the other.
local released = release(string.sub(ARGV[1], 3), 'X', 1)
local answer = claim(1)
save()
return released .. answer
