/** Programs that prove what a page promises, with processes that are killed and stopped; each is one command. */
@NullMarked
package dev.holdfast.bench.trial;

import org.jspecify.annotations.NullMarked;
