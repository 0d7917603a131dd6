-- The common case of a claim: exclusive, and the lock is free with nobody in the queue. It runs before lock.lua, so that
-- the functions there need not be created, and writes the same state. If a full server refuses, lock.lua frees or reports.
-- Numbers stay text, because to write the sixteen digits of one takes as long as a command: texts of digits that are equally
-- long compare as numbers do.
if ARGV[2] == 'X' and (ARGV[7] or '0') == '0' then
  local last, owner, floor = '0', '-', ARGV[4]
  if text then
    last, owner = string.match(text, '^1 (%d+) 0 F (%S+) ')
  end
  if last and owner ~= ARGV[1] then
    local time = redis.call('TIME')
    local now = time[1] .. string.sub('00000' .. time[2], -6)
    local number = now
    local highest = (#last > #floor or (#last == #floor and last > floor)) and last or floor
    if #highest > #now or (#highest == #now and highest >= now) then
      number = string.format('%.0f', highest + 1)
    end
    local line = '1 ' .. number .. ' 0 X ' .. ARGV[1] .. ' ' .. now .. ' ' .. ARGV[5]
    if not redis.pcall('SET', KEYS[1], line, 'PX', ARGV[3] + LINGER).err then
      return '+' .. number
    end
  end
end
