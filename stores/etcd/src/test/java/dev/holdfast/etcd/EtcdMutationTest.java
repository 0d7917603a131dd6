package dev.holdfast.etcd;

import dev.holdfast.tck.fuzz.MutationCases;

class EtcdMutationTest extends MutationCases {
    EtcdMutationTest() {
        super("dev.holdfast.etcd.EtcdFuzzTest", "stores/etcd/src/test/mutations/etcd.txt");
    }
}
