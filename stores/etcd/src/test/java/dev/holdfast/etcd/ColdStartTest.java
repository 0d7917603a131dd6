package dev.holdfast.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreContext;
import dev.holdfast.spi.StoreFence;
import dev.holdfast.spi.StoreProvider;
import dev.holdfast.tck.KitTime;
import dev.holdfast.testbed.EtcdServer;
import dev.holdfast.testbed.Started;
import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.MalformedURLException;
import java.net.ServerSocket;
import java.net.URL;
import java.net.URLClassLoader;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A JVM that takes long to load gRPC, as in a container with little of a processor. */
@Timeout(value = 180, unit = TimeUnit.SECONDS)
class ColdStartTest {
    @Started
    private static EtcdServer server;

    @Test
    @Tag("thorough")
    void aStoreOpensThoughItsClientLoadsForLongerThanARequestMayTake() throws Exception {
        try (SlowLoader loader = new SlowLoader();
                Store store = loader.provider().open(hurried(), new StoreContext(new KitTime()))) {
            assertThat(store.capabilities().fair()).isTrue();
        }
    }

    @Test
    @Tag("thorough")
    void aFenceChecksThoughItsClientLoadsForLongerThanARequestMayTake() throws Exception {
        try (SlowLoader loader = new SlowLoader();
                StoreFence fence = loader.provider().openFence(hurried(), Optional.empty())) {
            assertThatCode(() -> fence.check("cold", 1)).doesNotThrowAnyException();
        }
    }

    @Test
    @Tag("thorough")
    void aServerThatIsSilentIsReportedAfterTheLimitOfTheFirstRequest() throws IOException {
        try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            String url = "etcd://127.0.0.1:" + silent.getLocalPort() + "?timeout=1s";
            Etcd.load(server.endpoint());
            long begun = System.nanoTime();

            assertThatThrownBy(() -> new EtcdStoreProvider().open(url, new StoreContext(new KitTime())))
                    .isInstanceOf(StoreUnavailableException.class)
                    .hasMessageContaining("gave no answer in time");

            assertThat(Duration.ofNanos(System.nanoTime() - begun))
                    .isBetween(Duration.ofSeconds(1), Duration.ofSeconds(20));
        }
    }

    private static String hurried() {
        return "etcd://" + server.endpoint() + "?timeout=2s";
    }

    /** Loads the store, and the client below it, once more; each class takes some milliseconds. */
    private static final class SlowLoader extends URLClassLoader {
        private static final long TAKES = 8; // milliseconds

        SlowLoader() {
            super(
                    Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
                            .map(SlowLoader::url)
                            .toArray(URL[]::new),
                    ColdStartTest.class.getClassLoader());
        }

        private static URL url(String path) {
            try {
                return new File(path).toURI().toURL();
            } catch (MalformedURLException e) {
                throw new IllegalStateException(e);
            }
        }

        StoreProvider provider() throws ReflectiveOperationException {
            return (StoreProvider) loadClass(EtcdStoreProvider.class.getName())
                    .getConstructor()
                    .newInstance();
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (!name.startsWith("io.") && !name.startsWith("com.google.") && !name.startsWith("dev.holdfast.etcd.")) {
                return super.loadClass(name, resolve);
            }
            synchronized (getClassLoadingLock(name)) {
                Class<?> loaded = findLoadedClass(name);
                return loaded != null ? loaded : slowly(name);
            }
        }

        private Class<?> slowly(String name) throws ClassNotFoundException {
            try {
                Thread.sleep(TAKES);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            return findClass(name);
        }
    }
}
