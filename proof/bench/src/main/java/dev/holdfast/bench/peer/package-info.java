/** One small adapter per measured library, each set up as its own documentation tells a user to. */
@NullMarked
package dev.holdfast.bench.peer;

import org.jspecify.annotations.NullMarked;
