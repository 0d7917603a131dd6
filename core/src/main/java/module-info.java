/**
 * Distributed locks over the stores an application already runs: the API, what a store implements, and the engine.
 */
module dev.holdfast.core {
    requires jdk.jfr;
    requires static transitive org.jspecify;

    exports dev.holdfast;
    exports dev.holdfast.spi;
    exports dev.holdfast.spi.support;
    exports dev.holdfast.memory;

    uses dev.holdfast.spi.StoreProvider;

    provides dev.holdfast.spi.StoreProvider with
            dev.holdfast.memory.MemoryStoreProvider;
}
