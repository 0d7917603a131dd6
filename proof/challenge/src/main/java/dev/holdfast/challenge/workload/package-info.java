/** What holders do with a lock. */
@NullMarked
package dev.holdfast.challenge.workload;

import org.jspecify.annotations.NullMarked;
