package dev.holdfast.jdbc;

import dev.holdfast.tck.fuzz.MutationCases;

class PostgresMutationTest extends MutationCases {
    PostgresMutationTest() {
        super("dev.holdfast.jdbc.PostgresFuzzTest", "stores/jdbc/src/test/mutations/servers.txt");
    }
}
