-- Breaks the lock if its last grant still is the one the caller saw. ARGV: that number, 1 to give it to the next at
-- once. "1" if it was broken, "0" if nobody holds it, "?" if others got it meanwhile.
purge()
if kind == 'F' then
  return '0'
end
if string.format('%.0f', number) ~= ARGV[1] then
  return '?'
end
if kind == 'S' or kind == 'P' then
  redis.call('DEL', sharers, details)
  owner = '-'
end
kind, changed = 'R', true
if ARGV[2] == '1' then
  kind, owner, since, who, left = 'F', '-', '0', '', 0
  settle()
end
save()
return '1'
