/** What the locks of a client do, as Micrometer meters: {@link dev.holdfast.micrometer.LockMetrics}. */
@NullMarked
package dev.holdfast.micrometer;

import org.jspecify.annotations.NullMarked;
