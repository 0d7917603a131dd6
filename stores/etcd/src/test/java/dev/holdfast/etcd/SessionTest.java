package dev.holdfast.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.HoldfastException;
import dev.holdfast.spi.support.ElapsedTime;
import dev.holdfast.tck.KitTime;
import dev.holdfast.testbed.EtcdServer;
import dev.holdfast.testbed.OrSkip;
import io.etcd.jetcd.Client;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** When a session is kept alive. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
class SessionTest {
    /** Half of it, less a third, is what a busy machine may be late. */
    private static final Duration LEASE = Duration.ofSeconds(15);

    /** A proof between two beats puts the next one off, but not beyond a third of the lease. */
    @Test
    void aSessionThatOnlyWaitsIsProvedEveryThirdOfItsLease() {
        try (EtcdServer server = OrSkip.orSkip(EtcdServer::start);
                Client client = EtcdUrl.parse(Etcd.url(server.endpoint()), Optional.empty())
                        .connect()) {
            KitTime time = new KitTime();
            Requests requests = new Requests(client, time, Duration.ofSeconds(20), new Errors("etcd"));
            ElapsedTime elapsed = ElapsedTime.of(time);
            Waiting owner = new Waiting();
            ElapsedTime.Moment asked = elapsed.now();
            long lease = RawStore.answer(requests.grantLease(LEASE.toSeconds())).getID();
            Session session = new Session(requests, new Keys(""), elapsed, owner, lease, LEASE, asked);
            session.use();
            await().pollDelay(LEASE.dividedBy(9)).until(() -> true);
            assertThat(RawStore.answer(session.prove())).isTrue();
            assertThat(owner.answers.get())
                    .as("reports: one by the proof, which puts the beat off where the machine is not slow")
                    .isPositive();

            AtomicLong oldest = new AtomicLong();
            await().during(LEASE).atMost(LEASE.multipliedBy(2)).until(() -> {
                oldest.accumulateAndGet(time.nanoTime() - session.begin(), Math::max);
                return true;
            });

            assertThat(Duration.ofNanos(oldest.get()))
                    .as("the age of its last proof")
                    .isLessThan(LEASE.dividedBy(2));
        }
    }

    private static final class Waiting implements Session.Owner {
        final AtomicInteger answers = new AtomicInteger();

        @Override
        public boolean needs(Session session) {
            return true;
        }

        @Override
        public void ended(Session session) {}

        @Override
        public void unreachable(HoldfastException why) {}

        @Override
        public void reachable() {
            answers.incrementAndGet();
        }
    }
}
