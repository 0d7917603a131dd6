package dev.holdfast.cli;

import dev.holdfast.testbed.EtcdServer;
import dev.holdfast.testbed.Ports;
import dev.holdfast.testbed.Started;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Base64;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;

/** What the command line says of etcd. */
@Tag("engine-in-another-class")
@Tag("processes-in-another-class")
@Tag("thorough")
class EtcdCommandLineTest extends CommandLineContract {
    private static final AtomicInteger STORES = new AtomicInteger();

    @Started
    private static EtcdServer server;

    /** A prefix that nobody has used. */
    @Override
    protected String emptyStore(Path folder) {
        return "etcd://" + server.endpoint() + "/store" + STORES.incrementAndGet() + "?timeout=1m";
    }

    /** The holder's own key, with a value that says nonsense; its client gives it up at its next renewal. */
    @Override
    protected boolean plantForeignRecord(String url, String name) {
        String prefix = url.replaceFirst("etcd://[^/]*", "").replaceFirst("\\?.*", "");
        String lock = prefix + "/holdfast/locks/" + name;
        String found = server.ask(
                "kv/range",
                "{\"key\":\"" + base64(lock + "\0") + "\",\"range_end\":\"" + base64(lock + "\u0001") + "\"}");
        String key = found.replaceFirst("(?s).*\"key\":\"([^\"]*)\".*", "$1");
        server.ask(
                "kv/put",
                "{\"key\":\"" + key + "\",\"value\":\"" + base64("5 %zz 1 %zz") + "\",\"ignore_lease\":true}");
        return true;
    }

    private static String base64(String text) {
        return Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8));
    }

    /** Without the settings. */
    @Override
    protected String shown(String url) {
        return url.substring(0, url.indexOf('?'));
    }

    @Override
    protected String unreachableStore(Path folder) {
        return "etcd://me:s3cret@127.0.0.1:" + Ports.free() + "?timeout=1s";
    }
}
