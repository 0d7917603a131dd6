/** What workers saw, in files that outlive them. */
@NullMarked
package dev.holdfast.challenge.history;

import org.jspecify.annotations.NullMarked;
