package dev.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Hold;
import dev.holdfast.HoldOptions;
import dev.holdfast.LockClient;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.testbed.TcpProxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** A request for a shorter lease that was given up may arrive on its old connection after a later one was answered. */
class LateExtendTest {
    private static final Duration SHORT = Duration.ofSeconds(10);
    private static final Duration LONG = Duration.ofSeconds(60);

    @AutoClose
    private final Rig rig = new Rig();

    @Test
    void theHolderNeverTrustsInMoreThanItLeaves() throws InterruptedException {
        HoldOptions options =
                HoldOptions.defaults().lease(Duration.ofSeconds(30)).autoRenew(false);
        try (TcpProxy proxy = TcpProxy.to(rig.server.port());
                LockClient client = LockClient.connect("redis://127.0.0.1:" + proxy.port() + "?timeout=300ms")) {
            Hold hold = client.lock("a", options).acquire();
            String[] state = rig.call("GET", "holdfast:{a}").split(" ", -1);
            proxy.toServer().swallow();
            assertThatThrownBy(() -> hold.extend(SHORT)).isInstanceOf(StoreUnavailableException.class);
            proxy.heal();
            Rig.until("a longer lease to be answered", () -> {
                try {
                    hold.extend(LONG);
                    return true;
                } catch (StoreUnavailableException notYet) {
                    return false;
                }
            });

            arrivesLate(state[2], state[state.length - 1]);

            Duration left =
                    Rig.get(rig.open().status("a")).grant().orElseThrow().leaseLeft();
            assertThat(left).as("the shorter lease was carried out").isLessThanOrEqualTo(SHORT);
            assertThat(hold.remaining()).isLessThanOrEqualTo(left);
            assertThat(hold.isValid()).isTrue();
            hold.close();
        }
    }

    /** The first request, on a connection that no client reads. */
    private void arrivesLate(String id, String number) {
        List<String> words = new ArrayList<>(List.of("EVAL", Script.RENEW.body(), "1", "holdfast:{a}"));
        words.add(String.join(" ", id, "X", "1", Long.toString(SHORT.toMillis()), number));
        assertThat(rig.call(words.toArray(String[]::new))).isEqualTo("H");
    }
}
