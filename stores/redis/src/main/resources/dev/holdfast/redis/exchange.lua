-- Gives an exclusive lock back and claims it anew for the same client, behind all who wait: what a client does that
-- passes the lock on while it wants it again. ARGV: those of the claim, then X and the id that is given back, in one word.
-- Both answers, one after the other; "?" for the second if the claim is to be sent by itself to hear why it is refused.
local released = release(string.sub(ARGV[4], 3), 'X', 1)
local done, answer = pcall(claim)
if not done then
  answer = '?'
  pcall(settle)
end
save()
return released .. answer
