/** The real servers under the bench, each with its settings, its own counters and the processor time it used. */
@NullMarked
package dev.holdfast.bench.server;

import org.jspecify.annotations.NullMarked;
