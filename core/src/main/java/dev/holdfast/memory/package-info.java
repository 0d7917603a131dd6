/** A store in the memory of this process, and a clock that moves only on demand: for tests, and to try things out. */
@NullMarked
package dev.holdfast.memory;

import org.jspecify.annotations.NullMarked;
