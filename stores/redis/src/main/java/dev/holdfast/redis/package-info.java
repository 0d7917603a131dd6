/**
 * Locks kept in Redis: one server, through Lettuce. Start at {@link dev.holdfast.redis.RedisStores} for a client of
 * your own, or give a {@code redis://} URL to {@link dev.holdfast.LockClient#connect}.
 */
@NullMarked
package dev.holdfast.redis;

import org.jspecify.annotations.NullMarked;
