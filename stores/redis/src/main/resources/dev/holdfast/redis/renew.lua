-- Renews many grants. KEYS of each: its four; ARGV of each: id, kind, permits, lease. One letter of each: H held, C held
-- while others wait, L lost. Alone of all scripts it reads each state by itself, and takes a key that is no lock's for a
-- lost one: the rest of the batch must not suffer. Nothing that a full server refuses comes first.
local LINGER, DEADLINES = 30000, 4e15
local answers, micros = {}, nil

local function now()
  if not micros then
    local time = redis.call('TIME')
    micros = time[1] * 1000000 + time[2]
  end
  return micros
end

for i = 0, #KEYS / 4 - 1 do
  local state, queue, sharers, details = KEYS[4 * i + 1], KEYS[4 * i + 2], KEYS[4 * i + 3], KEYS[4 * i + 4]
  local id, mode, permits, lease = ARGV[4 * i + 1], ARGV[4 * i + 2], ARGV[4 * i + 3], tonumber(ARGV[4 * i + 4])
  local text = redis.pcall('GET', state)
  local queued, kind, owner, who
  if type(text) == 'string' then
    queued, kind, owner, who = string.match(text, '^1 %d+ ([01]) (%u) (%S+) %d+ (.?)')
  end
  if mode == 'X' and kind == 'S' then
    mode = 'S' -- made a reader, if it is there
  end
  local left = kind == mode and redis.call('PTTL', state) - LINGER or 0
  local held = false
  if left > 0 and mode == 'X' then
    held = owner == id and who ~= '' -- an offer is confirmed by its claim alone
    if held then
      redis.call('PEXPIRE', state, lease + LINGER)
    end
  elseif left > 0 then
    local member = id .. ':' .. permits
    local runs_out = redis.call('ZSCORE', sharers, member)
    held = runs_out and tonumber(runs_out) > now()
    if held then
      for _, key in ipairs({state, sharers, details}) do
        redis.call('PEXPIRE', key, math.max(left, lease) + LINGER)
      end
      redis.call('ZADD', sharers, now() + lease * 1000, member)
    end
  end
  if not held then
    answers[i + 1] = 'L'
  elseif queued == '1' and redis.call('ZCOUNT', queue, DEADLINES + now(), '+inf') > 0 then
    answers[i + 1] = 'C'
  else
    answers[i + 1] = 'H'
  end
end
return table.concat(answers)
