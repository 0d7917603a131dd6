/**
 * What every test that breaks things shares: child processes to kill and stop, a TCP proxy that loses and delays what
 * passes through it, launchers of real servers, and a check that nothing was left behind.
 *
 * <p>Nothing here depends on a test framework. What a test awaited and did not get is an {@link AssertionError} that
 * shows everything known at that moment.
 */
@NullMarked
package dev.holdfast.testbed;

import org.jspecify.annotations.NullMarked;
