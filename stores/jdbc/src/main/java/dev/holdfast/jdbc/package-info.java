/**
 * Locks kept in a SQL database. {@code SqliteStore} and {@code SqlitePendingClaims} know locks and no database; a {@code Dialect}
 * knows one database and nothing of threads. Users meet none of them: they write a URL.
 */
@NullMarked
package dev.holdfast.jdbc;

import org.jspecify.annotations.NullMarked;
