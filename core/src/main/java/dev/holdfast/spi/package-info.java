/**
 * The interfaces that a store implements. A store knows names, claims and grants; it knows nothing of threads, re-entry
 * or the timing of renewals: those are the engine's.
 */
@NullMarked
package dev.holdfast.spi;

import org.jspecify.annotations.NullMarked;
