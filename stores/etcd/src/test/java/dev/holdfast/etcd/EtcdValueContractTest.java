package dev.holdfast.etcd;

import org.junit.jupiter.api.Tag;

/** What the store on etcd makes of names and other values. */
@Tag("engine-in-another-class")
@Tag("processes-in-another-class")
@Tag("only-values")
@Tag("values-proved-elsewhere")
class EtcdValueContractTest extends EtcdContract {}
