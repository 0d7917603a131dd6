package dev.holdfast.tck;

import dev.holdfast.tck.fuzz.MutationCases;

class MemoryMutationTest extends MutationCases {
    MemoryMutationTest() {
        super("dev.holdfast.tck.MemoryFuzzTest", "proof/tck/src/test/mutations/memory.txt");
    }
}
