package dev.holdfast.bench.server;

import dev.holdfast.bench.peer.StoreKind;

/** No store at all: locks within one process. */
final class Memory implements Server {
    @Override
    public StoreKind kind() {
        return StoreKind.MEMORY;
    }

    @Override
    public String url() {
        return "mem:bench";
    }

    @Override
    public String settings() {
        return "no store";
    }

    @Override
    public void close() {}
}
