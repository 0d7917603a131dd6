-- Gives an exclusive grant the number that another member of its quorum gave, and those after it higher ones.
local function rise(given)
  next_number(given) -- refuses one that is far ahead
  if tonumber(last or 0) < tonumber(given) then
    last, counted = given, true
  end
  number, changed = given, true
  return given
end
