package dev.holdfast.sqlite;

import dev.holdfast.tck.fuzz.MutationCases;

class SqliteMutationTest extends MutationCases {
    SqliteMutationTest() {
        super("dev.holdfast.sqlite.SqliteFuzzTest", "stores/sqlite/src/test/mutations/sqlite.txt");
    }
}
