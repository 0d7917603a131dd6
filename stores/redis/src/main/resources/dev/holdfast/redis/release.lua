-- Gives a lock back and offers it to the next. ARGV: id, kind, permits, attempt[, place in the queue to give up]. With a
-- place it is a withdrawal, and the claim may not even have come: it is remembered in a free lock, so that it is refused
-- should it come late.
local answer = release(ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4])
if ARGV[5] then
  drop(ARGV[5])
  if kind == 'F' then
    owner, since, who, changed = ARGV[1], ARGV[4], '', true
  end
end
settle()
save()
return answer
