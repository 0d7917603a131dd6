/**
 * For an application's own tests: {@link dev.holdfast.testkit.TestLocks} loses holds, stops holders past their leases, takes
 * the store away and moves time; {@link dev.holdfast.testkit.HoldfastExtension} gives a test method one of its own.
 */
@NullMarked
package dev.holdfast.testkit;

import org.jspecify.annotations.NullMarked;
