-- Admits a token unless a higher one was here before; answers with the highest. KEYS[1]: where that is kept. Tokens have
-- up to 19 digits, more than the numbers of Lua can tell apart, so they are compared as text: the longer is the higher.
local MOST = '9223372036854775807'
local last = redis.call('GET', KEYS[1])
if last and last ~= '0' and (not string.find(last, '^[1-9]%d*$') or #last > #MOST or (#last == #MOST and last > MOST)) then
  return redis.error_reply('HOLDFAST foreigntoken')
end
if last and (#last > #ARGV[1] or (#last == #ARGV[1] and last > ARGV[1])) then
  return last
end
redis.call('SET', KEYS[1], ARGV[1]) -- also the same again: a server that may not write may have been replaced
return ARGV[1]
