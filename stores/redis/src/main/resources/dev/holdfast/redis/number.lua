-- The number of a grant where the time is not above the last number and the floor, or is not of sixteen digits: as text,
-- like all three. state.lua tells why it is above all others.
local function above(now, last, floor)
  local micros, counted, seen = tonumber(now), tonumber(last or 0), tonumber((string.match(floor, '^%d+')))
  if last and not string.find(last, '^%-?%d+$') then
    error('HOLDFAST number', 0)
  end
  local most = math.max(micros, 1767225600e6) + 315576e9 -- the beginning of 2026, and ten years, in microseconds
  if math.max(counted, seen) > most then
    error(counted > most and 'HOLDFAST numberahead' or 'HOLDFAST floorahead', 0)
  end
  return string.format('%.0f', math.max(micros, counted + 1, seen + 1))
end
