package dev.holdfast.jdbc;

import java.util.List;

/**
 * What one database needs, written for the one who looks after it: a script which that database's own shell can run,
 * with comments for what no script can do. A new dialect brings its page, made of the very statements it runs, and
 * enters it in {@link JdbcSchema}.
 */
interface SchemaPage {

    /** The names by which people call the database, in lower case; the first is its usual one. */
    List<String> names();

    /** The script: the tables, the rights that an account needs, what a connection needs. Ends with a line break. */
    String script();
}
