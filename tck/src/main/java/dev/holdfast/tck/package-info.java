/**
 * The contract of a store as JUnit tests: a store passes by a small subclass of {@link dev.holdfast.tck.StoreContract}.
 */
@NullMarked
package dev.holdfast.tck;

import org.jspecify.annotations.NullMarked;
