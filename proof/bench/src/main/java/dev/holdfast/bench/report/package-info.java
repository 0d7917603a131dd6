/** What becomes of the results: tables, a page, pictures, and the targets beside what was measured. */
@NullMarked
package dev.holdfast.bench.report;

import org.jspecify.annotations.NullMarked;
