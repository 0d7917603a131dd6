/**
 * The engine: the local queue, hand-over, the renewer. Written once, for every store. Not exported; nothing outside core
 * may use it.
 */
@NullMarked
package dev.holdfast.internal;

import org.jspecify.annotations.NullMarked;
