-- Gives an exclusive grant the number that another member of its quorum gave, and those after it higher ones.
local function rise(given)
  if tonumber(redis.call('GET', counter) or '0') < tonumber(given) then
    redis.call('SET', counter, given)
  end
  number, changed = given, true
  return given
end
