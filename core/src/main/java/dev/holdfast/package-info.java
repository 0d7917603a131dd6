/**
 * Distributed locks: one small API over the stores an application already runs.
 *
 * <p>Start at {@link dev.holdfast.LockClient}.
 */
@NullMarked
package dev.holdfast;

import org.jspecify.annotations.NullMarked;
