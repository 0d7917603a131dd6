/**
 * Locks kept in a table of a SQL server. {@code ServerStore} and {@code LockTransition} know locks and no database; a
 * {@code ServerDialect} knows one database and nothing of threads. Users write a URL, or lend their {@code DataSource}.
 */
@NullMarked
package dev.holdfast.jdbc;

import org.jspecify.annotations.NullMarked;
