package dev.holdfast.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.DistributedLock;
import dev.holdfast.Hold;
import dev.holdfast.HoldOptions;
import dev.holdfast.LockClient;
import dev.holdfast.LockListener;
import dev.holdfast.StoreEvent;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.Grant;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;

/** What callers are told of an outage: a wait that ends in it says so, a wait without a time rides it out for a while. */
abstract class ClientOutageCases extends OutageSupport {
    ClientOutageCases(StoreContract contract) {
        super(contract);
    }

    @Test
    void aTimedWaitThatEndsInAnOutageSaysSoAndNotThatOthersHold() throws Exception {
        RawClient raw = rig.raw();
        LockClient holder = rig.client();
        LockClient client = rig.client();
        String name = rig.name();
        HoldOptions options = HoldOptions.defaults().lease(Claims.LONG);
        Hold hold = holder.lock(name, options).acquire();
        DistributedLock lock = client.lock(name, options);
        Duration wait = rig.brief().multipliedBy(3);
        assertThat(lock.tryAcquire(wait)).as("while the store answers").isEmpty();
        raw.awaitWaiting(name, 0);
        during(() -> {
            var last = rig.fork(() -> lock.tryAcquire(wait));
            var withOthers = rig.fork(() -> lock.tryAcquire(wait));
            Patience patience = rig.patience.times(3);
            assertThatThrownBy(() -> patience.result(last, "a wait in an outage"))
                    .isInstanceOf(StoreUnavailableException.class);
            assertThatThrownBy(() -> patience.result(withOthers, "another"))
                    .isInstanceOf(StoreUnavailableException.class);
        });
        rig.patience.until("the store to answer again", () -> answers(raw));
        rig.patience.times(3).until("nobody to wait any more", () -> raw.waiting(name) == 0);
        assertThat(hold.name()).isEqualTo(name);
    }

    @Test
    void aWaitThatBeganBeforeTheOutageSaysSoToo() throws Exception {
        RawClient raw = rig.raw();
        RawClient holder = rig.raw();
        Grant grant = holder.hold(rig.name());
        LockClient client = rig.client();
        // on a busy machine it takes seconds until a store stands still, and that must be well before the wait ends
        Duration some = rig.brief().multipliedBy(20);
        Duration wait = some.compareTo(rig.patience.most()) < 0 ? some : rig.patience.most();
        var waiting = rig.fork(() -> client.lock(grant.name()).tryAcquire(wait));
        raw.awaitWaiting(grant.name(), 1);
        during(() -> assertThatThrownBy(() -> rig.patience.times(3).result(waiting, "the wait"))
                .isInstanceOf(StoreUnavailableException.class));
        rig.patience.until("the store to answer again", () -> answers(raw));
        holder.release(grant);
        assertThat(rig.patience.times(3).result(client.lock(grant.name()).acquireAsync(), "a later wait"))
                .satisfies(Hold::close);
    }

    @Test
    void listenersHearOfItOnceAndOfItsEnd() throws Exception {
        List<StoreEvent> heard = new CopyOnWriteArrayList<>();
        RawClient raw = rig.raw();
        Grant grant = raw.hold(rig.name());
        LockClient client = rig.client(settings -> settings.listener(new LockListener() {
            @Override
            public void onStoreUnreachable(StoreEvent.Unreachable event) {
                heard.add(event);
            }

            @Override
            public void onStoreReachable(StoreEvent.Reachable event) {
                heard.add(event);
            }
        }));
        CompletableFuture<Hold> waiting = client.lock(grant.name()).acquireAsync();
        raw.awaitWaiting(grant.name(), 1);
        assertThat(heard).isEmpty();
        Patience patience = rig.patience.times(2);
        during(() -> patience.until("listeners to hear that the store is away", () -> heard.size() == 1));
        patience.until("listeners to hear that it is back", () -> heard.size() >= 2);
        assertThat(heard.get(0)).isInstanceOf(StoreEvent.Unreachable.class);
        assertThat(heard.get(1)).isInstanceOf(StoreEvent.Reachable.class);
        raw.release(grant);
        patience.result(waiting, "the wait").close();
    }

    /** The wait that reported the outage has left before its end. */
    @Test
    void aWaitThatBeginsAfterAnOutageIsNotEndedByIt() throws Exception {
        RawClient raw = rig.raw();
        Grant grant = raw.hold(rig.name());
        LockClient client = rig.client(settings -> settings.outageLimit(rig.brief()));
        LockClient other = rig.client();
        DistributedLock lock = client.lock(grant.name());
        Duration wait = rig.brief().multipliedBy(3);
        during(() -> {
            var reporter = rig.fork(() -> lock.tryAcquire(wait));
            assertThatThrownBy(() -> rig.patience.times(3).result(reporter, "a wait in an outage"))
                    .isInstanceOf(StoreUnavailableException.class);
        });
        rig.patience.until("the store to answer again", () -> answers(raw));
        rig.patience.until("that client to be connected again", () -> answers(lock));
        CompletableFuture<Hold> late = lock.acquireAsync();
        assertThat(other.lock(grant.name()).tryAcquire(wait))
                .as("for longer than the limit")
                .isEmpty();
        assertThat(late).isNotDone();
        raw.release(grant);
        rig.patience.times(3).result(late, "the later wait").close();
    }

    @Test
    void acquireRidesItOutForItsLimitAndThenSaysSo() throws Exception {
        RawClient raw = rig.raw();
        Grant grant = raw.hold(rig.name());
        LockClient client = rig.client(settings -> settings.outageLimit(rig.brief()));
        CompletableFuture<Hold> waiting = client.lock(grant.name()).acquireAsync();
        raw.awaitWaiting(grant.name(), 1);
        during(() -> assertThatThrownBy(() -> rig.patience.times(3).result(waiting, "the wait"))
                .isInstanceOf(StoreUnavailableException.class)
                .hasMessageContaining("outageLimit"));
        rig.patience.until("the store to answer again", () -> answers(raw));
        raw.release(grant);
    }
}
