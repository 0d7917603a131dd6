/** The rungs in Redis, from {@code SETNX} to the watchdog. */
@NullMarked
package dev.holdfast.ladder.redis;

import org.jspecify.annotations.NullMarked;
