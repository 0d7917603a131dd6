package dev.holdfast.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import dev.holdfast.Hold;
import dev.holdfast.LockClient;
import dev.holdfast.LockClientBuilder;
import dev.holdfast.LockListener;
import dev.holdfast.Loss;
import dev.holdfast.StoreEvent;
import dev.holdfast.spi.StoreFence;
import dev.holdfast.spi.StoreProvider;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;

/**
 * Nothing that a client lets out shows a secret of its URL, whatever is wrong with the URL, the secret or the server: no
 * message, no cause of one, no log line, no event, no name of a store.
 *
 * <pre>{@code
 * class MySecretsTest extends SecretsContract {
 *     protected List<String> urls() {
 *         return List.of("mine://me:SECRET@127.0.0.1:1", "mine://127.0.0.1:1?password=ENCODED&nosuch=1");
 *     }
 * }
 * }</pre>
 */
public abstract class SecretsContract {
    /** Each secret has one or both of them in it, and no URL has them elsewhere. */
    private static final List<String> MARKS = List.of("kq7xw", "48151");

    private static final List<String> SECRETS = List.of(
            "Kq7Xw",
            "48151",
            "Kq7Xw@48151",
            "48151:Kq7Xw",
            "48151/Kq7Xw",
            "Kq7Xw%48151",
            "48151#Kq7Xw",
            "48151?Kq7Xw",
            "Kq7Xw&48151",
            "48151;Kq7Xw",
            "48151,Kq7Xw",
            "Kq7Xw=48151",
            "Kq7Xw 48151",
            "48151)Kq7Xw'",
            "Kq7Xw%zz48151");

    /** For the subclass. */
    protected SecretsContract() {}

    /**
     * The table: URLs in which {@code SECRET} stands for the secret as it is, and {@code ENCODED} for the secret with
     * percent signs. If a URL has neither, the secret is given beside it. A test takes a lock of each store that opens.
     */
    protected abstract List<String> urls();

    /** Each URL with one of the secrets, and the secrets in turn. */
    @TestFactory
    Stream<DynamicTest> nothingShowsTheSecretOf() {
        List<String> urls = urls();
        return IntStream.range(0, urls.size())
                .mapToObj(i -> dynamicTest(
                        urls.get(i), () -> assertNothingShows(urls.get(i), SECRETS.get(i % SECRETS.size()))));
    }

    /** Side by side, as drivers try again: a log line shows a secret, whichever of the clients wrote it. */
    @TestFactory
    @Tag("thorough")
    Stream<DynamicTest> nothingShowsAnySecretOf() {
        return urls().stream().map(url -> dynamicTest(url, () -> assertNothingShowsAnySecretOf(url)));
    }

    private static void assertNothingShowsAnySecretOf(String template) throws Throwable {
        ExecutorService threads = Executors.newFixedThreadPool(SECRETS.size());
        try {
            List<Callable<Void>> all = new ArrayList<>();
            SECRETS.forEach(secret -> all.add(() -> {
                assertNothingShows(template, secret);
                return null;
            }));
            for (Future<Void> each : threads.invokeAll(all)) {
                each.get();
            }
        } catch (ExecutionException e) {
            throw e.getCause();
        } finally {
            threads.shutdown();
        }
    }

    private static void assertNothingShows(String template, String secret) {
        String url = template.replace("SECRET", secret)
                .replace(
                        "ENCODED",
                        URLEncoder.encode(secret, StandardCharsets.UTF_8).replace("+", "%20"));
        String name = "secrets " + SECRETS.indexOf(secret);
        String shown = everythingShownOf(url, name, url.equals(template) ? Optional.of(secret) : Optional.empty());
        assertThat(shown).as(url).isNotEmpty();
        assertThat(shown.toLowerCase(Locale.ROOT)).as(url + ", in:\n" + shown).doesNotContain(MARKS);
    }

    private static String everythingShownOf(String url, String name, Optional<String> password) {
        Shown shown = new Shown();
        Logger root = Logger.getLogger("");
        root.addHandler(shown);
        try {
            shown.of(() -> use(client(url, password, shown), name, shown));
            shown.of(() -> use(client(url, password, shown).connectLazily(true), name, shown));
            shown.of(() -> check(url, name, password));
        } finally {
            root.removeHandler(shown);
        }
        return shown.toString();
    }

    private static LockClientBuilder client(String url, Optional<String> password, Shown shown) {
        LockClientBuilder builder = LockClient.builder(url).listener(shown);
        password.ifPresent(builder::password);
        return builder;
    }

    private static void use(LockClientBuilder builder, String name, Shown shown) {
        try (LockClient client = builder.build()) {
            shown.say(client + " " + client.store());
            shown.of(() -> {
                try (Hold hold = client.lock(name).tryAcquire().orElseThrow()) {
                    shown.say(hold.toString());
                }
            });
            shown.of(() -> shown.say(client.lock(name).status().toString()));
        }
    }

    private static void check(String url, String name, Optional<String> password) {
        String scheme = url.substring(0, url.indexOf(':')).toLowerCase(Locale.ROOT);
        for (StoreProvider provider : ServiceLoader.load(StoreProvider.class)) {
            if (provider.schemes().contains(scheme)) {
                try (StoreFence fence = provider.openFence(url, password)) {
                    fence.check(name, 1);
                }
            }
        }
    }

    /** The texts that a client lets out. */
    private static final class Shown extends Handler implements LockListener {
        private final List<String> texts = new ArrayList<>();

        void of(Runnable attempt) {
            try {
                attempt.run();
            } catch (RuntimeException e) {
                thrown(e);
            }
        }

        private void thrown(Throwable failure) {
            StringWriter all = new StringWriter();
            failure.printStackTrace(new PrintWriter(all)); // with all causes
            say(all.toString());
        }

        synchronized void say(String text) {
            texts.add(text);
        }

        @Override
        public void onStoreUnreachable(StoreEvent.Unreachable event) {
            say(event.toString());
        }

        @Override
        public void onLost(Loss loss) {
            say(loss.toString());
        }

        @Override
        public void publish(LogRecord line) {
            if (line.getLevel().intValue() >= Level.INFO.intValue()) {
                say(line.getLoggerName() + ": " + line.getMessage()
                        + List.of(Optional.ofNullable(line.getParameters())
                                .map(List::of)
                                .orElse(List.of())));
                Optional.ofNullable(line.getThrown()).ifPresent(this::thrown);
            }
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}

        @Override
        public synchronized String toString() {
            return String.join("\n", texts);
        }
    }
}
