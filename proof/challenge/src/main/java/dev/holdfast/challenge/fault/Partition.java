package dev.holdfast.challenge.fault;

import dev.holdfast.challenge.Heat;
import dev.holdfast.challenge.Lane;
import dev.holdfast.challenge.store.StoreKind;
import dev.holdfast.testbed.TcpProxy;
import java.util.List;

/** Between the holder and the server all bytes vanish, both ways and without a word, until its lock has gone to another. */
final class Partition implements Fault {
    @Override
    public String id() {
        return "partition";
    }

    @Override
    public String title() {
        return "holder cut off in silence";
    }

    @Override
    public boolean fits(StoreKind store) {
        return store.isProxied();
    }

    @Override
    public boolean waits() {
        return true;
    }

    @Override
    public void bite(Heat heat) {
        Heat.Pinned pinned = heat.pin();
        TcpProxy proxy = heat.proxy(pinned.victim());
        long began = System.nanoTime();
        proxy.toServer().swallow();
        proxy.toClient().swallow();
        List<Lane> taken;
        try {
            taken = heat.awaitTaken(pinned, began);
        } finally {
            proxy.heal();
        }
        heat.unpin();
        heat.bitten(pinned, taken, pinned.victim(), began);
        heat.probe();
    }
}
