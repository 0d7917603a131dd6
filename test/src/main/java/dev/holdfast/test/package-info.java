/**
 * For an application's own tests: {@link dev.holdfast.test.TestLocks} loses holds, stops holders past their leases, takes
 * the store away and moves time; {@link dev.holdfast.test.HoldfastExtension} gives a test method one of its own.
 */
@NullMarked
package dev.holdfast.test;

import org.jspecify.annotations.NullMarked;
