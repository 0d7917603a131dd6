-- Breaks the grant of a number, and no other: its renewals find it lost. ARGV: that number, 1 to end it at once.
-- "1" if it was broken, "0" if no grant of that number stands.
--
-- An exclusive grant leaves a broken lock (R). That of a reader, or of permits, stays under its number in the place of
-- its claim, until the lease has run out. A client that has a grant watched hears that it was broken.
purge()
local shown, at_once = ARGV[1], ARGV[2] == '1'
if kind == 'X' or kind == 'R' then
  if number ~= shown then
    return '0'
  end
  local _, told = string.match(who, WATCHED)
  if kind == 'X' and told then
    redis.pcall('PUBLISH', told, '-' .. owner)
  end
  kind, changed = 'R', true
  if at_once then
    free()
  end
elseif kind == 'S' or kind == 'P' then
  local broken
  for _, member in ipairs(redis.call('ZRANGEBYSCORE', sharers, '(' .. clock(), '+inf')) do
    local id, permits = string.match(member, '^(%x+):(%d+)$')
    local text = redis.call('HGET', details, id) or ''
    if string.match(text, '^%d+') == shown then
      if not at_once then
        redis.call('HSET', details, shown, text)
        redis.call('ZADD', sharers, redis.call('ZSCORE', sharers, member), shown .. ':' .. permits)
      else
        owner = owner - permits
      end
      if at_once or id ~= shown then
        redis.call('HDEL', details, id)
        redis.call('ZREM', sharers, member)
      end
      broken = true
      break
    end
  end
  if not broken then
    return '0'
  end
  changed = true
  if at_once and owner <= 0 then
    free()
  end
else
  return '0'
end
pcall(settle)
save()
return '1'
