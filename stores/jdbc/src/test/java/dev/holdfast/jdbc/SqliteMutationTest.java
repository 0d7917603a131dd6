package dev.holdfast.jdbc;

import dev.holdfast.tck.fuzz.MutationCases;

class SqliteMutationTest extends MutationCases {
    SqliteMutationTest() {
        super("dev.holdfast.jdbc.SqliteFuzzTest", "stores/jdbc/src/test/mutations/sqlite.txt");
    }
}
