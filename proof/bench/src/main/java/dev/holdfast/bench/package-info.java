/** What Holdfast costs, measured. */
@NullMarked
package dev.holdfast.bench;

import org.jspecify.annotations.NullMarked;
