package dev.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.spi.support.Asked;
import dev.holdfast.testbed.TcpProxy;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/**
 * A claim that is cancelled while the server runs it. The caller may have admitted the next claim already: a grant that
 * arrives after that would block it for a lease.
 */
class CancelTest {
    @AutoClose
    private final Rig rig = new Rig();

    @Test
    void isAnsweredWithNothingAndLeavesNothing() {
        try (TcpProxy proxy = TcpProxy.to(rig.server.port())) {
            RedisStore store = rig.open("redis://127.0.0.1:" + proxy.port());
            RedisStore next = rig.open();
            Rig.hold(store, "warm-up");
            proxy.toClient().hold();
            Asked waits = Asked.of(store, Rig.waiting(Rig.claim("a")));
            Rig.until("it to be carried out", () -> Rig.get(next.status("a")).isHeld());

            waits.cancel();
            proxy.toClient().resume();

            assertThat(Rig.get(waits.answer())).isEmpty();
            assertThat(Rig.attempt(next, "a")).isPresent();
        }
    }
}
