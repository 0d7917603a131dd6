package dev.holdfast.memcached;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreContext;
import dev.holdfast.tck.FrozenLayout;
import dev.holdfast.tck.FrozenLayout.Clock;
import dev.holdfast.tck.FrozenLayoutContract;
import dev.holdfast.testbed.MemcachedServer;
import dev.holdfast.testbed.Started;
import java.net.URLDecoder;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The layout of 0.1.0 on a single server. */
class FrozenLayoutTest extends FrozenLayoutContract {
    private static final Pattern COMMAND = Pattern.compile("(set \\S+ \\d+ \\d+) (.*)");
    private static final Pattern ITEM = Pattern.compile("key=(\\S+) exp=(-?\\d+) .*");

    @Started
    private static MemcachedServer server;

    @Override
    protected FrozenLayout layout() {
        return FrozenLayout.read("0.1.0/memcached.txt", Map.of("now", Clock.millis()));
    }

    @Override
    protected void empty() {
        for (String key : List.of("base", "lock:held", "lock:broken")) { // flush_all counts whole seconds
            server.ask("delete holdfast:" + key);
        }
    }

    @Override
    protected void run(String command) {
        Matcher parts = COMMAND.matcher(command);
        if (!parts.matches()) {
            throw new IllegalArgumentException(command);
        }
        server.ask(parts.group(1) + " " + parts.group(2).length() + "\r\n" + parts.group(2));
    }

    @Override
    protected List<String> stored() {
        List<String> commands = new ArrayList<>();
        for (String each : server.ask("lru_crawler metadump hash")) {
            Matcher item = ITEM.matcher(each);
            if (item.matches()) {
                String key = URLDecoder.decode(item.group(1), UTF_8);
                long end = Long.parseLong(item.group(2));
                long left = end < 0 ? 0 : end - System.currentTimeMillis() / 1_000;
                commands.add("set " + key + " 0 " + left + " "
                        + server.ask("get " + key).get(1));
            }
        }
        return commands;
    }

    /** Numbers begin above the microseconds of the clock. */
    @Override
    protected Map<String, String> own() {
        long base = System.currentTimeMillis() * 1_000;
        return Map.of("base", Long.toString(base), "number", Long.toString(base + 1));
    }

    @Override
    protected Store open(StoreContext context) {
        return new MemcachedStoreProvider().open("memcached://" + server.endpoint(), context);
    }
}
