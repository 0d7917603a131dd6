/** What keeps orders apart from each other: nothing, monitors, the textbooks' locks, the database, and Holdfast. */
@NullMarked
package dev.holdfast.flashsale.guard;

import org.jspecify.annotations.NullMarked;
