-- Raises the number of a grant to the highest that another member of its quorum gave, so that the numbers of later grants
-- are above it. ARGV: id, number. NUMBER, or "-" if the claim does not hold the lock.
if kind ~= 'X' or owner ~= ARGV[1] then
  return '-'
end
if tonumber(number) < tonumber(ARGV[2]) then
  rise(ARGV[2])
  save()
end
return number
