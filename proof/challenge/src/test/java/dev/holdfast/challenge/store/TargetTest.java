package dev.holdfast.challenge.store;

import static dev.holdfast.testbed.OrSkip.orSkip;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Hold;
import dev.holdfast.LockClient;
import dev.holdfast.testbed.Await;
import dev.holdfast.testbed.TcpProxy;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Each store, looked at by other means than Holdfast's. */
class TargetTest {
    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final String NAME = "c1h1n1-left";

    @TempDir
    private Path folder;

    static Stream<StoreKind> stores() {
        return StoreKind.ALL.stream();
    }

    /** Everyday, the short challenge shows it on three stores. */
    @Tag("thorough")
    @ParameterizedTest
    @MethodSource("stores")
    void aHoldIsSeenInTheStoreAndAReleasedLockIsNot(StoreKind store) throws InterruptedException {
        try (Target target = orSkip(() -> store.start(Optional.empty(), folder));
                LockClient client = LockClient.connect(target.url())) {
            client.lock(NAME).acquire().close(); // so that there are tables
            assertSeen(target, client.lock(NAME)::acquire);
            if (!store.id().equals("memcached")) {
                assertSeen(target, client.readWriteLock(NAME).read()::acquire);
                assertSeen(target, client.semaphore(NAME, 2)::acquire);
            }
        }
    }

    @Tag("thorough")
    @ParameterizedTest
    @ValueSource(strings = {"redis", "mariadb", "postgresql"})
    void theServerEndsAllConnections(String store) throws InterruptedException {
        try (Target target = orSkip(() -> StoreKind.of(store).start(Optional.empty(), folder));
                TcpProxy proxy = TcpProxy.to(target.port().orElseThrow());
                LockClient client = LockClient.connect(target.urlThrough(proxy.port()))) {
            client.lock(NAME).acquire().close();
            long before = proxy.connections().accepted();
            assertThat(target.killConnections()).isPositive();
            client.lock(NAME).acquire().close();
            assertThat(proxy.connections().accepted()).isGreaterThan(before);
        }
    }

    @Test
    void theFileOfAClientThatIsOpenIsSeen() {
        long here = ProcessHandle.current().pid();
        try (Target target = StoreKind.of("sqlite").start(Optional.empty(), folder)) {
            try (LockClient client = LockClient.connect(target.url())) {
                assertThat(client.list("")).isEmpty();
                assertThat(target.openIn(here)).isNotEmpty();
            }
            assertThat(target.openIn(here)).isEmpty();
        }
    }

    private interface Acquire {
        Hold now() throws InterruptedException;
    }

    private static void assertSeen(Target target, Acquire acquire) throws InterruptedException {
        assertNothingKept(target);
        try (Hold hold = acquire.now()) {
            assertThat(hold.isValid()).isTrue();
            assertThat(kept(target)).isNotEmpty();
        }
        assertNothingKept(target);
    }

    private static void assertNothingKept(Target target) {
        assertThat(Await.until(PATIENCE, () -> kept(target).isEmpty()))
                .as("%s", kept(target))
                .isTrue();
    }

    private static List<String> kept(Target target) {
        return target.kept().stream().filter(entry -> entry.contains(NAME)).toList();
    }
}
