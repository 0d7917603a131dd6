-- Gives a lock back and offers it to the next. ARGV: id, attempt[, kind, permits[, place in the queue to give up]]; without
-- a kind it is exclusive. With a place it is a withdrawal, and the claim may not even have come: it is remembered in a free
-- lock, so that it is refused should it come late.
local answer = release(ARGV[1], ARGV[3] or 'X', tonumber(ARGV[4] or '1'), ARGV[2])
if ARGV[5] then
  drop(ARGV[5])
  if kind == 'F' then
    owner, since, who, changed = ARGV[1], ARGV[2], '', true
  end
end
settle()
save()
return answer
