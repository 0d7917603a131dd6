/** Ready-made solutions on top of locks: stripes, single flight, a consistent cache, a split stock. */
@NullMarked
package dev.holdfast.recipes;

import org.jspecify.annotations.NullMarked;
