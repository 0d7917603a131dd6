/** The rungs in a SQL database: a table of one's own, and what is written into it. */
@org.jspecify.annotations.NullMarked
package dev.holdfast.ladder.sql;
