/** Locks kept in Memcached, through spymemcached. */
@NullMarked
package dev.holdfast.memcached;

import org.jspecify.annotations.NullMarked;
