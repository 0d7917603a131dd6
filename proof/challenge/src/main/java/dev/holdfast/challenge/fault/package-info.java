/** What is done to holders, waiters, connections and servers; each fault proves that it bit. */
@NullMarked
package dev.holdfast.challenge.fault;

import org.jspecify.annotations.NullMarked;
