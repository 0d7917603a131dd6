/** What a lock makes its server write and keep, by the server's own counters: {@code ./holdfast bench writes}. */
@NullMarked
package dev.holdfast.bench.writes;

import org.jspecify.annotations.NullMarked;
