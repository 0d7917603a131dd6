/** The stores under attack. */
@NullMarked
package dev.holdfast.challenge.store;

import org.jspecify.annotations.NullMarked;
