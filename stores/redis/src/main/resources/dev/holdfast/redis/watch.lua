-- From now on the client of an exclusive grant is told on its channel when a claim comes to wait. ARGV: id, number, channel.
-- "1" if one waits already, else "0"; "-" if the grant is gone.
local channel = ARGV[3]
if kind ~= 'X' or owner ~= ARGV[1] or who == '' or number ~= ARGV[2] then
  return '-'
end
local holder, told = string.match(who, WATCHED)
if told ~= channel then
  who, changed = (holder or who) .. ' ' .. channel, true
  save()
end
return queued and redis.call('ZCOUNT', queue, DEADLINES + now(), '+inf') > 0 and '1' or '0'
