/**
 * Code that several stores share, for authors of stores: lists that are read page by page, renewals in chunks, how long
 * a place in a queue counts, whose turn it is in one, the listener that is named late, pauses, threads that a store
 * starts and ends, durations in whole microseconds, the failure of an attempt that cannot tell what the one before it
 * did.
 */
@NullMarked
package dev.holdfast.spi.support;

import org.jspecify.annotations.NullMarked;
