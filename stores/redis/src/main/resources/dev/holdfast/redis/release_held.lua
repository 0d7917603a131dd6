-- The common case of a release: an exclusive hold within its lease, and nobody waits. Like claim_free.lua, it runs before
-- lock.lua and writes the same state.
if not ARGV[3] then
  local last, owner = string.match(text or '', '^1 (%d+) 0 X (%S+) ')
  if owner == ARGV[1] and redis.call('PTTL', KEYS[1]) > LINGER then
    local line = '1 ' .. last .. ' 0 F ' .. owner .. ' ' .. ARGV[2] .. ' '
    if not redis.pcall('SET', KEYS[1], line, 'PX', LINGER_TEXT).err then
      return '1'
    end
  end
end
