/**
 * The locks of the textbooks, one rung above the other: each repairs what broke the one below it, and is broken by
 * something else. The tests show both on real servers. Not for use: the last rung is Holdfast.
 */
@NullMarked
package dev.holdfast.ladder;

import org.jspecify.annotations.NullMarked;
