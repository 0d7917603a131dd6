package dev.holdfast.sqlite;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.LockClient;
import dev.holdfast.StoreRefusedException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Clients that open their file when they need it. */
class LazyConnectTest {
    @TempDir
    private Path folder;

    @Test
    void theFileIsMadeByTheFirstRequest() {
        Path file = folder.resolve("locks.db");
        try (LockClient client =
                LockClient.builder("sqlite:" + file).connectLazily(true).build()) {
            assertThat(file).doesNotExist();

            client.lock("a").tryAcquire().orElseThrow().close();

            assertThat(file).exists();
            try (LockClient eager = LockClient.connect("sqlite:" + file)) {
                assertThat(client).hasToString(eager.toString());
            }
        }
    }

    @Test
    void aPlaceThatCannotBeUsedYetIsTriedAgain() throws IOException {
        Path place = folder.resolve("mounted-later");
        Files.createFile(place);
        try (LockClient client = LockClient.builder("sqlite:" + place.resolve("locks.db"))
                .connectLazily(true)
                .build()) {
            assertThatThrownBy(() -> client.lock("a").tryAcquire()).isInstanceOf(StoreRefusedException.class);

            Files.delete(place);

            assertThat(client.lock("a").tryAcquire()).isPresent();
        }
    }

    @Test
    void aWrongUrlIsRefusedAtOnce() {
        assertThatIllegalArgumentException()
                .isThrownBy(
                        () -> LockClient.builder("sqlite:").connectLazily(true).build());
    }
}
