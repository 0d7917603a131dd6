package dev.holdfast.zookeeper;

import dev.holdfast.tck.fuzz.MutationCases;

class ZooKeeperMutationTest extends MutationCases {
    ZooKeeperMutationTest() {
        super("dev.holdfast.zookeeper.ZooKeeperFuzzTest", "stores/zookeeper/src/test/mutations/zookeeper.txt");
    }
}
