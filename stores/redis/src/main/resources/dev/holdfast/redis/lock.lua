-- What every script about one lock begins with: its state is read, and functions are there to change it.
--
-- KEYS[1]  holdfast:{NAME}     the state, one line of text:
--              LAYOUT NUMBER QUEUED KIND OWNER SINCE WHO
--          LAYOUT  1
--          NUMBER  the last grant number
--          QUEUED  1 if somebody may be in the queue, so that nobody looks into an empty one
--          KIND    F free: OWNER is the claim that was released last, SINCE the attempt that released it
--                  X held exclusively: OWNER is the claim, SINCE the microsecond of the grant, WHO for people to read,
--                    and nothing while it is an offer
--                  S held by readers, P held by permits: OWNER is how many are out
--                  R broken: nobody holds it, and it is kept from others until the lease has run out
-- KEYS[2]  holdfast:{NAME}:q   the queue: KIND:PERMITS:OF:CLAIM:CHANNEL by the microsecond of arrival
-- KEYS[3]  holdfast:{NAME}:h   readers and permits: CLAIM:PERMITS by the microsecond at which the lease runs out
-- KEYS[4]  holdfast:{NAME}:w   who they are: CLAIM -> NUMBER SINCE WHO
--
-- The lease of an exclusive holder is the key's own time to live less LINGER: renewing it is one PEXPIRE, which a full
-- server still grants. LINGER is for how long the last number is remembered after the lock was used; after that the
-- clock's microseconds take its place. All time is the server's.
--
-- An offer is a grant for OFFER milliseconds to the first in the queue, told to it by a message on its channel. It
-- confirms by claiming under the same id, which begins its lease; if it does not, the offer runs out like any lease.

local LINGER, OFFER = 30000, 1000
local state, queue, sharers, details = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local number, queued, kind, owner, since, who = 0, false, 'F', '-', '0', ''
local left, changed, micros = 0, false, nil

local text = redis.call('GET', state)
if text then
  local layout, n, q, k, o, s, w = string.match(text, '^(%d+) (%d+) ([01]) (%u) (%S+) (%d+) (.*)$')
  if layout ~= '1' then
    return redis.error_reply('HOLDFAST ' .. (string.match(text, '^(%d+) ') or 'foreign'))
  end
  number, queued, kind, owner, since, who = tonumber(n), q == '1', k, o, s, w
  if kind ~= 'F' then
    left = redis.call('PTTL', state) - LINGER
    if left <= 0 then
      if kind == 'S' or kind == 'P' then
        redis.call('DEL', sharers, details)
      end
      kind, owner, since, who, left = 'F', '-', '0', '', 0
    end
  end
end

local function now()
  if not micros then
    local time = redis.call('TIME')
    micros = time[1] * 1000000 + time[2]
  end
  return micros
end

-- A number as text, with all its digits. The one asked for last is remembered: writing sixteen digits costs as much as
-- a command does, and mostly the same microsecond is grant number, time of the grant, and answer.
local last_number, last_digits
local function digits(n)
  if n ~= last_number then
    last_number, last_digits = n, string.format('%.0f', n)
  end
  return last_digits
end

-- Takes out readers and permits whose leases have run out, each once.
local function purge()
  if kind ~= 'S' and kind ~= 'P' then
    return
  end
  for _, member in ipairs(redis.call('ZRANGEBYSCORE', sharers, '-inf', now())) do
    local id, permits = string.match(member, '^(%x+):(%d+)$')
    redis.call('ZREM', sharers, member)
    redis.call('HDEL', details, id)
    owner = owner - permits
    changed = true
  end
  if changed and owner <= 0 then
    kind, owner, left = 'F', '-', 0
  end
end

local function fits(mode, permits, of)
  return kind == 'F' or (kind == mode and (mode == 'S' or (mode == 'P' and owner + permits <= of)))
end

-- Whether this claim holds the lock, unexpired.
local function holds(id, mode, permits)
  if mode == 'X' then
    return kind == 'X' and owner == id
  end
  return kind == mode and redis.call('ZSCORE', sharers, id .. ':' .. permits) ~= false
end

-- How a claim holds: one that was made a reader is still asked for as it came.
local function held_as(id, mode)
  return mode == 'X' and kind == 'S' and redis.call('ZSCORE', sharers, id .. ':1') and 'S' or mode
end

local function give(mode, permits, id, lease, floor, whom)
  number = math.max(number + 1, floor + 1, now())
  if mode == 'X' then
    if kind ~= 'X' or owner ~= id or who == '' then
      since = digits(now())
    end
    kind, owner, who, left = 'X', id, whom, lease
  else
    local out = kind == mode and owner or 0
    if redis.call('ZADD', sharers, now() + lease * 1000, id .. ':' .. permits) == 1 then
      out = out + permits
    end
    redis.call('HSET', details, id, string.format('%.0f %.0f %s', number, now(), whom))
    kind, owner, since, who, left = mode, out, '0', '', math.max(left, lease)
    redis.call('PEXPIRE', sharers, left + LINGER)
    redis.call('PEXPIRE', details, left + LINGER)
  end
  changed = true
end

-- A claim that holds already and was sent twice: its lease begins anew unless it has longer, and its number, which is
-- the answer, stays. Nothing for an offer: that is confirmed.
local function keep(mode, permits, id, lease)
  if mode == 'X' then
    if who == '' then
      return nil
    end
    if lease > left then
      left, changed = lease, true
    end
    return digits(number)
  end
  local given, whom = string.match(redis.call('HGET', details, id) or '', '^(%d+) %d+ (.+)$')
  local member, runs_out = id .. ':' .. permits, now() + lease * 1000
  if given and runs_out > tonumber(redis.call('ZSCORE', sharers, member)) then
    redis.call('ZADD', sharers, runs_out, member)
    left, changed = math.max(left, lease), true
    redis.call('PEXPIRE', sharers, left + LINGER)
    redis.call('PEXPIRE', details, left + LINGER)
  end
  return given
end

-- Offers the lock to the first in the queue while that one fits; true when the first is the claim that asks.
-- Who does not hear is passed over: it comes back to its place when it hears again.
local function settle(asking)
  while queued and kind ~= 'X' and kind ~= 'R' do
    local head = redis.call('ZPOPMIN', queue)
    changed = true
    if #head == 0 then
      queued = false
      return false
    end
    local mode, permits, of, id, channel = string.match(head[1], '^(%u):(%d+):(%d+):(%x+):(.*)$')
    if not fits(mode, tonumber(permits), tonumber(of)) then
      redis.call('ZADD', queue, head[2], head[1])
      return false
    end
    if id == asking then
      return true
    end
    local heard = redis.pcall('PUBLISH', channel, id)
    if type(heard) == 'table' or heard > 0 then
      give(mode, tonumber(permits), id, OFFER, 0, '')
    end
  end
  return false
end

-- Writes the state, if it has changed. On a full server a script may write once it has freed something.
local function save()
  if changed then
    local line = '1 ' .. digits(number) .. (queued and ' 1 ' or ' 0 ') .. kind .. ' ' .. owner .. ' ' .. since .. ' ' .. who
    local written = redis.pcall('SET', state, line, 'PX', left + LINGER)
    if written.err then
      if kind == 'F' then
        redis.call('DEL', state)
      end
      redis.call('SET', state, line, 'PX', left + LINGER)
    end
  end
end

-- Claims for ARGV[at + ...]: id, kind, lease, floor, who[, channel, place[, permits, of]].
-- "+NUMBER"; or "-", or of one that waits "-LEFT WAITING PLACE MISSED": MISSED is 1 if it had a place, and was passed over.
local function claim(at)
  local id, mode, lease, floor, whom = ARGV[at + 1], ARGV[at + 2], tonumber(ARGV[at + 3]), tonumber(ARGV[at + 4]), ARGV[at + 5]
  local channel, place = ARGV[at + 6], ARGV[at + 7]
  local permits, of = tonumber(ARGV[at + 8] or '1'), tonumber(ARGV[at + 9] or '1')
  purge()
  if kind == 'F' and owner == id then
    return '-' -- given back or withdrawn before: this is the claim, come late
  end
  mode = held_as(id, mode)
  local mine = holds(id, mode, permits)
  local kept = mine and keep(mode, permits, id, lease)
  if kept then
    settle()
    return '+' .. kept
  end
  if mine or settle(id) or (not queued and fits(mode, permits, of)) then
    if place and place ~= '0' and not mine then
      redis.call('ZREM', queue, string.format('%s:%d:%d:%s:%s', mode, permits, of, id, channel))
    end
    give(mode, permits, id, lease, floor, whom)
    settle()
    return '+' .. digits(number)
  end
  if not channel or channel == '' then
    return '-'
  end
  if place == '0' then
    place = digits(now())
  end
  local member = string.format('%s:%d:%d:%s:%s', mode, permits, of, id, channel)
  local missed = redis.call('ZADD', queue, 'NX', place, member) == 1 and ARGV[at + 7] ~= '0'
  redis.call('PEXPIRE', queue, 2 * LINGER)
  if not queued then
    queued, changed = true, true
  end
  local wait = left
  if kind == 'S' or kind == 'P' then
    wait = math.max(0, (redis.call('ZRANGE', sharers, 0, 0, 'WITHSCORES')[2] - now()) / 1000)
  end
  return string.format('-%.0f %d %s %s', wait, redis.call('ZCARD', queue), place, missed and '1' or '0')
end

-- Ends the hold of a claim: "1", or "0" if it had none. The same attempt sent again gives the same answer.
local function release(id, mode, permits, attempt)
  purge()
  if kind == 'F' and owner == id and since == attempt then
    return '1'
  end
  mode = held_as(id, mode)
  if mode ~= 'X' then
    if not holds(id, mode, permits) then
      return '0'
    end
    redis.call('ZREM', sharers, id .. ':' .. permits)
    redis.call('HDEL', details, id)
    owner, changed = owner - permits, true
    if owner > 0 then
      return '1'
    end
  elseif owner ~= id or (kind ~= 'X' and kind ~= 'R') then
    return '0'
  end
  local held = kind == 'R' and '0' or '1'
  kind, owner, since, who, left, changed = 'F', id, attempt, '', 0, true
  return held
end
