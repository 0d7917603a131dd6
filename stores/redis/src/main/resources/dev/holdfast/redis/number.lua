-- The number of the next grant; state.lua tells why it is above all others. Numbers stay text: to write the sixteen digits of
-- one takes as long as a command, and texts of as many digits compare as their numbers do.
local TEN_YEARS, YEAR_2026 = 315576e9, 1767225600e6 -- microseconds
local counter = KEYS[2] or 'holdfast:number'
local time, last -- the server's clock in microseconds; the last number, false if there is none

local function clock()
  if not time then
    local now = redis.call('TIME')
    time = now[1] .. (#now[2] == 6 and now[2] or string.sub('00000' .. now[2], -6))
  end
  return time
end

-- Writes nothing. FLOOR begins with the highest number that the client has seen: sixteen digits, or, what is lower, fewer.
local function next_number(floor)
  local now = clock()
  if last == nil then
    last = redis.call('GET', counter)
  end
  if #now == 16 and floor < now and (not last or (#last == 16 and last < now and not string.find(last, '%D'))) then
    return now
  end
  local micros, counted, seen = tonumber(now), tonumber(last or 0), tonumber((string.match(floor, '^%d+')))
  if last and not string.find(last, '^%-?%d+$') then
    error('HOLDFAST number', 0)
  end
  local most = math.max(micros, YEAR_2026) + TEN_YEARS
  if math.max(counted, seen) > most then
    error(counted > most and 'HOLDFAST numberahead' or 'HOLDFAST floorahead', 0)
  end
  return string.format('%.0f', math.max(micros, counted + 1, seen + 1))
end
