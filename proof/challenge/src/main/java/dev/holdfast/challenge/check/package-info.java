/** What a history must not show. */
@NullMarked
package dev.holdfast.challenge.check;

import org.jspecify.annotations.NullMarked;
