package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.holdfast.memory.MemoryStore;
import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreContext;
import dev.holdfast.spi.StoreProvider;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A password beside the URL: it reaches the store, and nothing that people read. */
class PasswordTest {
    private static @Nullable StoreContext given;

    /** Notes what it is opened with. */
    public static final class Provider implements StoreProvider {
        /** For ServiceLoader. */
        public Provider() {}

        @Override
        public Set<String> schemes() {
            return Set.of("note");
        }

        @Override
        public Store open(String url, StoreContext context) {
            given = context;
            return new MemoryStore(context.time()).open(context.time());
        }
    }

    @Test
    void reachesTheStoreAsItIs(@TempDir Path folder) throws IOException {
        withProvider(
                folder,
                () -> LockClient.builder("note:").password("p@ss:w/rd%41").build());

        assertThat(given).isNotNull();
        assertThat(given.password()).contains("p@ss:w/rd%41");
        assertThat(given.toString()).doesNotContain("p@ss");
    }

    @Test
    void isAbsentUnlessGiven(@TempDir Path folder) throws IOException {
        withProvider(folder, () -> LockClient.connect("note:"));

        assertThat(given).extracting(StoreContext::password).isEqualTo(Optional.empty());
    }

    @Test
    void isNotEmpty() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> LockClient.builder("mem:").password(""));
    }

    @FunctionalInterface
    private interface Opening {
        LockClient open();
    }

    /** The caller's class loader brings a store, as an application's does. */
    private static void withProvider(Path folder, Opening opening) throws IOException {
        Path services = Files.createDirectories(folder.resolve("META-INF/services"));
        Files.writeString(services.resolve(StoreProvider.class.getName()), Provider.class.getName());
        ClassLoader before = Thread.currentThread().getContextClassLoader();
        try (URLClassLoader loader =
                new URLClassLoader(new URL[] {folder.toUri().toURL()}, Provider.class.getClassLoader())) {
            Thread.currentThread().setContextClassLoader(loader);
            opening.open().close();
        } finally {
            Thread.currentThread().setContextClassLoader(before);
        }
    }
}
