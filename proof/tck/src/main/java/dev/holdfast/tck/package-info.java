/**
 * The contract of a store as JUnit tests: a store passes by a small subclass of {@link dev.holdfast.tck.StoreContract}, and
 * shows no secret of its URL by one of {@link dev.holdfast.tck.SecretsContract}.
 */
@NullMarked
package dev.holdfast.tck;

import org.jspecify.annotations.NullMarked;
