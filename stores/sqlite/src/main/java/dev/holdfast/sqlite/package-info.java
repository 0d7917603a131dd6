/**
 * Locks kept in a SQLite file, shared by the processes of one machine. {@code SqliteStore} and {@code
 * SqlitePendingClaims} know locks, {@code SqliteLocks} their statements, {@code SqliteFile} the file. Users write a URL.
 */
@NullMarked
package dev.holdfast.sqlite;

import org.jspecify.annotations.NullMarked;
