/** The command line: {@code holdfast run}, {@code list}, {@code demo}. Nothing here is an API but its behaviour. */
@NullMarked
package dev.holdfast.cli;

import org.jspecify.annotations.NullMarked;
