/** Worker processes, the loads they run, and what comes of it. */
@NullMarked
package dev.holdfast.bench.run;

import org.jspecify.annotations.NullMarked;
