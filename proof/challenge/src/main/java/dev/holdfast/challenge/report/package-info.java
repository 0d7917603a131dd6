/** What was seen: in the terminal, as a page, as JSON. */
@NullMarked
package dev.holdfast.challenge.report;

import org.jspecify.annotations.NullMarked;
