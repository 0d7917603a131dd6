/** The processes that use the locks under attack. */
@NullMarked
package dev.holdfast.challenge.worker;

import org.jspecify.annotations.NullMarked;
