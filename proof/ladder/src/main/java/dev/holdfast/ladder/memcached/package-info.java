/** The rungs in Memcached, from {@code add} to an item that ends by itself. */
@NullMarked
package dev.holdfast.ladder.memcached;

import org.jspecify.annotations.NullMarked;
