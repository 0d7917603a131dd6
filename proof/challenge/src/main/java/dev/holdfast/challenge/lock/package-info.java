/** The locks under attack, each used in turns. */
@NullMarked
package dev.holdfast.challenge.lock;

import org.jspecify.annotations.NullMarked;
