-- Gives a lock back and offers it to the next. ARGV: X and the id, in one word[, kind, permits[, place in the queue to give
-- up]]; without a kind it is exclusive. With a place it is a withdrawal, and the claim may not even have come, or may come
-- once more: it is remembered in a free lock, so that it is refused then.
local id = string.sub(ARGV[1], 3)
if ARGV[4] then
  drop(ARGV[4], redis.call('ZSCORE', queue, ARGV[4]) or ARGV[4]) -- a waiter of a quorum has a deadline only, under its id
end
local answer = release(id, ARGV[2] or 'X', tonumber(ARGV[3] or '1'))
if ARGV[4] and kind == 'F' then
  owner, changed = id, true
end
pcall(settle)
save()
return answer
