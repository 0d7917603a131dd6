-- Makes an exclusive hold that of a reader, which keeps its number and its lease; those who wait and fit come in beside
-- it. ARGV: id, number. "1" if it is a reader now, "0" if it holds nothing. Afterwards it is asked for as a writer all the
-- same.
purge()
local id, its_number = ARGV[1], ARGV[2]
if kind == 'X' and owner == id and number == its_number and who ~= '' then
  try_sharers()
  clear_for('S')
  redis.call('ZADD', sharers, now() + left * 1000, id .. ':1')
  redis.call('HSET', details, id, number .. ' ' .. since .. ' ' .. who)
  kind, owner, since, who, number, changed, lengthened = 'S', 1, '0', '', '0', true, true
  pcall(settle)
end
save()
local reads = kind == 'S' and holds(id, 'S', 1)
return reads and string.match(redis.call('HGET', details, id) or '', '^%d+') == its_number and '1' or '0'
