/** {@code ./holdfast challenge}: attacks locks with real faults on real processes, and says what held. */
@NullMarked
package dev.holdfast.challenge;

import org.jspecify.annotations.NullMarked;
