/** Other problems that locks solve, each played by the servers with and without a lock. */
@NullMarked
package dev.holdfast.flashsale.scene;

import org.jspecify.annotations.NullMarked;
