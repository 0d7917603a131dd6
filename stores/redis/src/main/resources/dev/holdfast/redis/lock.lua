-- Parses the state that state.lua has read, and defines the functions that change it.

local OFFER = 1000 -- milliseconds
local DEADLINES, FIRST_DEADLINE = 4e15, '4000000000000000' -- microseconds since 1970 reach that in the year 2096, and twice
-- that is still exact; places are below it; renew.lua has it too
local MOST_RANKS = 10 -- the longest interval between two polls, in POLL
local MOST_HEIRS = 3 -- so many waiters poll when the first, which does not fit, should have polled
local MOST_OFFERS = 64 -- of one lock by one script; the claims that confirm them go on
local CLAIM = '^1 X (%x+) = (.*) $' -- the state that claim_free.lua would write, but for the number
local WATCHED = '^(%S* %S* %S* %S*) (%S+)$' -- WHO with a channel
local DISTANT = 8e6 -- microseconds: more than the deadline of a first waiter is away
local CHANNELS = 'holdfast:client:' -- what the channels of all clients begin with
local NOT_SEEN = '0000000000000000' -- the floor of an offer; its confirmation has one
local state = KEYS[1]
local counter = KEYS[2] or 'holdfast:number'
local queue, sharers, details = KEYS[3] or state .. ':q', KEYS[4] or state .. ':h', KEYS[5] or state .. ':w'
local kind, queued, owner, since, who, number = 'F', false, '-', '0', '', '0'
local left, changed, lengthened = 0, false, false
local time, micros -- the server's clock in microseconds, as text and as number
local last, counted -- the last number, once it is read: false if there is none; whether it is to be written
local purged, run_out, none_left = false, {}, false -- sharers to be removed: these, or all
local soonest -- when the first lease of several sharers runs out
local blocked -- when the first waiter, which does not fit, ceases to count as alive

local function free()
  kind, owner, since, who, number, left = 'F', '-', '0', '', '0', 0
end

if text then
  local layout, k, q, o, s, w, n = string.match(text, '^(%d+) (%u)(%+?) (%S+) (%S+) (.*) (%d+)$')
  if layout ~= '1' then
    local newer = string.match(text, '^(%d+) ')
    return redis.error_reply('HOLDFAST ' .. (newer ~= '1' and newer or 'foreign'))
  end
  kind, queued, owner, since, who, number = k, q == '+', o, s == '=' and n or s, w, n
  if kind ~= 'F' then
    left = redis.call('PTTL', state) - (queued and LINGER or 0)
    if left <= 0 then
      none_left = kind == 'S' or kind == 'P'
      free()
    end
  end
end

local function clock()
  if not time then
    local seconds, part = unpack(redis.call('TIME'))
    time = seconds .. (#part == 6 and part or string.sub('00000' .. part, -6))
  end
  return time
end

local function now()
  micros = micros or tonumber(clock())
  return micros
end

-- A number as text, with all its digits.
local function digits(n)
  return string.format('%.0f', n)
end

-- The number of the next grant; claim_free.lua compares as this does. FLOOR begins with sixteen digits or fewer.
local function next_number(floor)
  local at = clock()
  if last == nil then
    last = redis.call('GET', counter)
  end
  return #at == 16 and floor < at and (not last or (#last == 16 and last < at)) and at or above(at, last, floor)
end

-- Leaves readers and permits out whose leases have run out; once, so that each is subtracted once.
local function purge()
  if purged or (kind ~= 'S' and kind ~= 'P') then
    return
  end
  purged = true
  local first = redis.call('ZRANGE', sharers, 0, 0, 'WITHSCORES')
  soonest = tonumber(first[2])
  if soonest and soonest <= now() then
    run_out = redis.call('ZRANGEBYSCORE', sharers, '-inf', now())
    for _, member in ipairs(run_out) do
      owner = owner - string.match(member, ':(%d+)$')
    end
    soonest = tonumber(redis.call('ZRANGEBYSCORE', sharers, '(' .. clock(), '+inf', 'WITHSCORES', 'LIMIT', 0, 1)[2])
  end
  if not soonest then
    none_left = true
    free()
  end
end

-- Removes what purge left out; before anything is written that it might take for its own.
local function clear()
  if none_left then
    redis.call('DEL', sharers, details)
  elseif run_out[1] then
    for _, member in ipairs(run_out) do
      redis.call('HDEL', details, (string.match(member, '^%x+')))
    end
    redis.call('ZREMRANGEBYSCORE', sharers, '-inf', now())
  end
  run_out, none_left = {}, false
end

-- Removes what may be left of earlier sharers before the first of new ones: if the state was deleted or evicted, they are
-- not counted.
local function clear_for(mode)
  none_left = none_left or (kind ~= mode and redis.call('ZRANGE', sharers, 0, 0)[1] ~= nil)
  clear()
end

-- Whether a claim is among the sharers, unexpired.
local function shares(id, permits)
  local runs_out = redis.call('ZSCORE', sharers, id .. ':' .. permits)
  return runs_out and tonumber(runs_out) > now()
end

local function fits(mode, permits, of)
  return kind == 'F' or (kind == mode and (mode == 'S' or (mode == 'P' and owner + permits <= of)))
end

-- Whether this claim holds the lock, unexpired.
local function holds(id, mode, permits)
  if mode == 'X' then
    return kind == 'X' and owner == id
  end
  return kind == mode and shares(id, permits)
end

-- How a claim holds: one that was made a reader is still asked for as it came.
local function held_as(id, mode)
  return mode == 'X' and kind == 'S' and shares(id, 1) and 'S' or mode
end

-- Raises if readers and permits cannot be read.
local function try_sharers()
  redis.call('ZRANGE', sharers, 0, 0)
  redis.call('HGET', details, '')
end

-- The number for a grant. Raises what the grant would raise, before anything is written for it.
local function prepare(mode, floor)
  if mode ~= 'X' then
    try_sharers()
  end
  return next_number(floor)
end

local function give(mode, permits, id, lease, given, whom)
  if mode == 'X' then
    if kind ~= 'X' or owner ~= id then
      since = clock()
    end
    kind, owner, who, number, left = 'X', id, whom, given, lease
  else
    clear_for(mode)
    local out = kind == mode and owner or 0
    redis.call('HSET', details, id, given .. ' ' .. clock() .. ' ' .. whom)
    if redis.call('ZADD', sharers, now() + lease * 1000, id .. ':' .. permits) == 1 then
      out = out + permits
    end
    kind, owner, left = mode, out, math.max(left, lease)
    soonest, lengthened = math.min(soonest or 1e16, now() + lease * 1000), true
  end
  changed = true
  return given
end

-- A claim that holds already and was sent twice: its lease begins anew unless it has longer, and its number, which is
-- the answer, stays. Nothing for an offer, which is to be confirmed, and then its number.
local function keep(mode, permits, id, lease)
  if mode == 'X' then
    if who == '' then
      return nil, number
    end
    if lease > left then
      left, changed = lease, true
    end
    return number
  end
  local given, whom = string.match(redis.call('HGET', details, id) or '', '^(%d+) %d+ (.*)$')
  if not given or whom == '' then
    return nil, given
  end
  local member, runs_out = id .. ':' .. permits, now() + lease * 1000
  if runs_out > tonumber(redis.call('ZSCORE', sharers, member)) then
    redis.call('ZADD', sharers, runs_out, member)
    left, changed, lengthened = math.max(left, lease), true, true
  end
  return given
end

local function drop(waiter, place)
  redis.call('ZREM', queue, waiter, '@' .. place)
end

-- The score of a deadline.
local function alive_until(deadline, deaf)
  return DEADLINES + deadline - deadline % 2 + (deaf and 1 or 0)
end

-- Takes some waiters out that have not polled by their deadlines, but for one.
local function drop_dead(but)
  local dead = redis.call('ZRANGEBYSCORE', queue, '(' .. FIRST_DEADLINE, DEADLINES + now(), 'LIMIT', 0, 8)
  for _, deadline in ipairs(dead) do
    local place = string.sub(deadline, 2)
    if place ~= but then
      drop(redis.pcall('ZRANGEBYSCORE', queue, place, place)[1] or '', place)
    end
  end
end

-- Puts a waiter into the queue, or moves its deadline: until after its next poll, and half a lease more, half a second to
-- five. Its rank, its place, and whether it was not in the queue before.
local function stay(waiter, place, returns, hears, poll, lease)
  local known = redis.call('ZSCORE', queue, waiter) -- also of an earlier copy of this claim
  if known then
    place = known
  end
  if returns then
    drop_dead(place)
  end
  local rank = redis.call('ZCOUNT', queue, '-inf', '(' .. place)
  local alive = 1.25 * poll * math.min(rank + 1, MOST_RANKS) + math.min(math.max(lease / 2, 500), 5000)
  local deadline = alive_until(now() + math.floor(alive * 1000), not hears)
  if known then
    redis.call('ZADD', queue, deadline, '@' .. place)
  else
    while redis.call('ZADD', queue, place, waiter, deadline, '@' .. place) == 1 do -- another has this place
      redis.call('ZREM', queue, waiter)
      place = digits(place + 1)
    end
  end
  if rank == 0 or returns then
    redis.call('PEXPIRE', queue, 2 * LINGER)
  end
  return rank, place, not known
end

-- When a waiter ceases to count as alive, and whether it does not hear offers yet.
local function deadline_of(place)
  local deadline = tonumber(redis.call('ZSCORE', queue, '@' .. place) or DEADLINES) - DEADLINES
  return deadline, deadline % 2 == 1
end

-- Whether the first waiter, which does not fit, is still alive. One that has become the first since it last polled, since
-- the one before it is dead or because its deadline is distant, is told to poll, and given as long as an offer lasts.
local function lives(place, id, channel, new)
  local deaf
  blocked, deaf = deadline_of(place)
  if new or blocked - now() > DISTANT then
    local gone = redis.pcall('PUBLISH', CHANNELS .. channel, id) == 0 and not deaf
    blocked = gone and 0 or math.min(blocked, now() + OFFER * 1000)
    redis.pcall('ZADD', queue, alive_until(blocked, deaf), '@' .. place)
  end
  return blocked > now()
end

-- Offers the lock to the first in the queue while that one fits; true when the first is the claim that asks.
-- One that nobody hears for is passed over, unless it does not hear yet, and so asks again soon. It comes back to its place.
-- A first waiter that asks is alive, however late.
local function settle(asking, floor)
  local offers, dead = 0, false
  while queued and kind ~= 'X' and kind ~= 'R' and offers < MOST_OFFERS do
    local head, place = unpack(redis.call('ZRANGE', queue, 0, 0, 'WITHSCORES'))
    local mode, permits, of, id, channel = string.match(head or '', '^(%u):(%d+):(%d+):(%x+):(.*)$')
    if not mode then
      queued, changed = false, true
      return false
    end
    local fit = fits(mode, tonumber(permits), tonumber(of))
    if not fit and (id == asking or lives(place, id, channel, dead)) then
      return false
    end
    local given = prepare(mode, floor or NOT_SEEN)
    local heard = fit and id ~= asking and redis.pcall('PUBLISH', CHANNELS .. channel, id)
    local hears = heard and (heard ~= 0 or select(2, deadline_of(place)))
    drop(head, place)
    if fit and id == asking then
      return true
    end
    if hears then
      last, counted = given, true
      give(mode, tonumber(permits), id, OFFER, given, '')
      offers = offers + 1
    end
    dead = dead or not fit
  end
  return false
end

-- On a full server a script may write once it has removed something, be it nothing: so may all but a claim that finds no key.
local function set(...)
  if redis.pcall('SET', ...).err then
    if text then
      redis.call('ZREM', queue, '')
    end
    redis.call('SET', ...)
  end
end

-- Writes the state, if it has changed, and the last number; no state of a lock that nobody holds or waits for.
local function save()
  if changed then
    clear()
    if counted then
      set(counter, last)
    end
    if kind == 'F' and owner == '-' and not queued then
      redis.call('DEL', state)
      return
    end
    if lengthened then
      redis.call('PEXPIRE', sharers, left + LINGER)
      redis.call('PEXPIRE', details, left + LINGER)
    end
    local begun = since == number and '=' or since
    set(
      state,
      '1 ' .. kind .. (queued and '+ ' or ' ') .. owner .. ' ' .. begun .. ' ' .. who .. ' ' .. number,
      'PX',
      left + ((queued or kind == 'F') and LINGER or 0)
    )
  end
end

-- Claims. ARGV: what claim_free.lua would write, lease, and in one word FLOOR KIND CHANNEL PLACE POLL HEARS PERMITS OF,
-- because words cost more than what is done with them. FLOOR has sixteen digits; without a CHANNEL the claim does not wait.
-- NUMBER; or "-", or of one that waits "-LEFT RANK PLACE MISSED": LEFT is -1 unless it is for this waiter to poll when
-- something ends; MISSED is 1 if it had a place, and was passed over.
local function claim()
  local id, whom = string.match(ARGV[1], CLAIM)
  local lease = tonumber(ARGV[2])
  local floor, mode, channel, place, poll, hears, permits, of =
    string.match(ARGV[3], '^(%d+) (%u) (%S*) (%d+) (%d+) ([01]) (%d+) (%d+)$')
  permits, of = tonumber(permits), tonumber(of)
  purge()
  if kind == 'F' and owner == id then
    return '-' -- withdrawn before: this is the claim, come late
  end
  mode = held_as(id, mode)
  local mine, offered = holds(id, mode, permits), nil
  if mine then
    pcall(settle)
    local kept
    kept, offered = keep(mode, permits, id, lease)
    if kept then
      return kept
    end
  end
  local waits = channel ~= ''
  local waiter = waits and mode .. ':' .. permits .. ':' .. of .. ':' .. id .. ':' .. channel
  if mine or settle(id, floor) or (not queued and fits(mode, permits, of)) then
    local given = offered and tonumber(offered) > tonumber(floor) and offered
    if not given then
      given = prepare(mode, floor)
      last, counted = given, true
    end
    if waits and place ~= '0' and not mine then
      drop(waiter, place)
    end
    give(mode, permits, id, lease, given, whom)
    settle()
    return given
  end
  if not waits then
    return '-'
  end
  local returns = place ~= '0'
  local rank, added
  rank, place, added = stay(waiter, returns and place or clock(), returns, hears == '1', tonumber(poll), lease)
  if kind == 'X' and (added or rank == 0) then -- the first in the queue says it with each poll, in case a message was lost
    local _, told = string.match(who, WATCHED)
    if told then
      redis.pcall('PUBLISH', told, '!' .. owner)
    end
  end
  if not queued then
    queued, changed = true, true
  end
  local wait = -1
  if rank == 0 then
    wait = (kind == 'S' or kind == 'P') and math.max(0, (soonest - now()) / 1000) or left
  elseif rank <= MOST_HEIRS and blocked then
    wait = math.max(0, (blocked - now()) / 1000) + 100 * (rank - 1)
  end
  return string.format('-%.0f %d %s %s', wait, rank, place, returns and added and '1' or '0')
end

-- Ends the hold of a claim: "1", or "0" if it had none. One that was broken has ended, and is kept from others until its lease
-- has run out: what its client releases, or clears away, changes nothing.
local function release(id, mode, permits)
  purge()
  mode = held_as(id, mode)
  if mode ~= 'X' then
    if not holds(id, mode, permits) then
      return '0'
    end
    redis.call('HDEL', details, id)
    redis.call('ZREM', sharers, id .. ':' .. permits)
    owner, changed = owner - permits, true
    if owner > 0 then
      return '1'
    end
  elseif kind ~= 'X' or owner ~= id then
    return '0'
  end
  free()
  changed = true
  return '1'
end
