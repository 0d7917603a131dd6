package dev.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.StoreRefusedException;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.Mode;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** The rights that the page lists are those that locks need: all of them, and no other. */
class RightsTest {
    /** Without them there are no warnings, no {@code list}, and a first call carries its script. */
    private static final List<String> NOT_FOR_LOCKS = List.of("+info", "+config|get", "+script|load", "+scan");

    private static final Duration BRIEF = Duration.ofMillis(100);

    @AutoClose
    private final Rig rig = new Rig();

    @Test
    void theRightsOnThePageAreEnough() {
        Rights.give(rig.server, "locks", Rights.onThePage());

        Rights.useAll(open(), open(), "a");

        assertThat(rig.server.call("ACL", "LOG")).as("nothing was denied").isEqualTo("[]");
    }

    @Test
    void noneOfThemIsUnused() {
        RedisStore store = rig.open();
        rig.commands();
        Rights.useAll(store, rig.open(), "a");
        rig.call("SCRIPT", "FLUSH");
        Rig.hold(store, Rig.claim("b", Mode.SHARED));
        Claim brief = Rig.claim("b", Mode.SHARED);
        Rig.hold(store, new Claim(brief.id(), brief.name(), brief.mode(), BRIEF, false, 0, brief.holder()));
        Set<String> used = new HashSet<>();
        Rig.until("a reader whose lease has ended to be removed", () -> {
            Rig.release(store, Rig.hold(store, Rig.claim("b", Mode.SHARED)));
            used.addAll(rig.commands().keySet());
            return used.contains("zremrangebyscore");
        });

        List<String> rights = Arrays.stream(Rights.onThePage().split(" "))
                .map(right -> right.substring(1))
                .filter(right -> !right.equals("info")) // the count itself asks for it
                .toList();
        assertThat(used).containsAll(rights);
    }

    @Test
    void aUserWhoMayNotReadTheServersStateHasLocksButNoList() {
        Rights.give(
                rig.server,
                "locks",
                Rights.onThePage() + " " + String.join(" ", NOT_FOR_LOCKS).replace('+', '-'));
        RedisStore store = open();

        assertThatCode(() -> Rig.release(store, Rig.hold(store, "a"))).doesNotThrowAnyException();

        assertThat(store.capabilities().caveats()).noneMatch(caveat -> caveat.contains("restart"));
        assertThatThrownBy(() -> Rig.get(store.list("")))
                .isInstanceOf(StoreRefusedException.class)
                .hasMessageContaining("grant");
    }

    private RedisStore open() {
        return rig.open("redis://locks:pw@127.0.0.1:" + rig.server.port());
    }
}
