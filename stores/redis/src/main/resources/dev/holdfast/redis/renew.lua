-- Renews many grants. KEYS of each: its state, or all five; ARGV of each, in one word: ID KIND PERMITS LEASE NUMBER. One
-- letter of each: H held, C held while others wait, L lost. A late copy of a claim may have a grant under the same id, but with
-- another number: nobody knows of that grant, and it is not renewed. Alone of all scripts this one reads each state by
-- itself, and takes a key of another type for none: the rest of the batch must not suffer. Nothing that a full server
-- refuses comes first.
-- While the slot of an exclusive lock moves between the nodes of a cluster, KEYS is the state's alone.
local LINGER, DEADLINES = 30000, 4e15
local answers, micros = {}, nil

local function now()
  if not micros then
    local time = redis.call('TIME')
    micros = time[1] * 1000000 + time[2]
  end
  return micros
end

-- Reads a key; nil if it has another type. On any other error, the second call raises it and ends the script.
local function read(...)
  local said = redis.pcall(...)
  local failure = type(said) == 'table' and said.err
  if not failure then
    return said
  end
  return not string.find(failure, 'WRONGTYPE', 1, true) and redis.call(...) or nil
end

-- Whether somebody waits; taken for true where the queue has moved to another node already.
local function waits(queue)
  local said = redis.pcall('ZCOUNT', queue, DEADLINES + now(), '+inf')
  if type(said) == 'table' and string.find(said.err, 'non local key', 1, true) then
    return true
  end
  return (read('ZCOUNT', queue, DEADLINES + now(), '+inf') or 0) > 0
end

local keys = #KEYS / #ARGV
for i, words in ipairs(ARGV) do
  local state = KEYS[keys * (i - 1) + 1]
  local queue, sharers, details = state .. ':q', state .. ':h', state .. ':w'
  local id, mode, permits, lease, number = string.match(words, '^(%x+) (%u) (%d+) (%d+) (%d+)$')
  lease = tonumber(lease)
  local kind, queued, owner, who, last =
    string.match(read('GET', state) or '', '^1 (%u)(%+?) (%S+) %S+ (.*) (%d+)$')
  local linger = queued == '+' and LINGER or 0
  if mode == 'X' and kind == 'S' then
    mode = 'S' -- made a reader, if it is there
  end
  local left = kind == mode and redis.call('PTTL', state) - linger or 0
  local held = false
  if left > 0 and mode == 'X' then
    held = owner == id and last == number and who ~= '' -- an offer is confirmed by its claim alone
    if held then
      redis.call('PEXPIRE', state, lease + linger)
    end
  elseif left > 0 then
    local member = id .. ':' .. permits
    local runs_out = tonumber(read('ZSCORE', sharers, member) or 0)
    held = runs_out > now() and string.match(read('HGET', details, id) or '', '^%d+') == number
    if held then
      left = math.max(left, lease)
      redis.call('PEXPIRE', state, left + linger)
      redis.call('PEXPIRE', sharers, left + LINGER)
      redis.call('PEXPIRE', details, left + LINGER)
      redis.call('ZADD', sharers, now() + lease * 1000, member)
    end
  end
  if not held then
    answers[i] = 'L'
  elseif queued == '+' and waits(queue) then
    answers[i] = 'C'
  else
    answers[i] = 'H'
  end
end
return table.concat(answers)
