/** What applications build on locks: stripes, single flight, a cache kept equal to its source, a stock in segments. */
@NullMarked
package dev.holdfast.recipes;

import org.jspecify.annotations.NullMarked;
