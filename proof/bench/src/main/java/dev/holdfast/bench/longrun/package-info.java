/** What grows within a week or a year of moved clocks: {@code ./holdfast bench long}. */
@NullMarked
package dev.holdfast.bench.longrun;

import org.jspecify.annotations.NullMarked;
