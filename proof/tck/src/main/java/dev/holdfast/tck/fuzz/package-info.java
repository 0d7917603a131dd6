/** Random histories on real stores, judged by a model: {@link dev.holdfast.tck.fuzz.StoreFuzz} is the way in. */
@NullMarked
package dev.holdfast.tck.fuzz;

import org.jspecify.annotations.NullMarked;
