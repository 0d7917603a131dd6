package dev.holdfast.flashsale;

import static java.util.Map.entry;

import dev.holdfast.flashsale.guard.Guards;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.regex.Pattern;
import tools.jackson.databind.json.JsonMapper;

/**
 * The code of the guards as the page shows it: regions of the sources that run, and the lines of them that fail, or refuse.
 * The build copies the sources beside the classes.
 */
final class GuardCode {
    /** The script of the page that has them. */
    static final String SCRIPT = "codes.js";

    private static final Pattern REGION =
            Pattern.compile("^ *// (?:code|snippet) \\w+\\n(.*?)^ *// end$", Pattern.DOTALL | Pattern.MULTILINE);
    private static final String WORK = "work.run(";
    private static final String RELEASE = "redis.del(";
    private static final String DELETE = "delete(name)";

    /**
     * Where the code is, and what is in the line that fails.
     *
     * @param region its name; empty for all that a file has
     * @param twice the line by which a ticket is sold twice
     * @param killed the line that a killed server never reaches
     * @param late the line that refuses a late write
     */
    private record Place(List<String> files, String region, String twice, String killed, String late) {
        static Place of(String region, String twice, String late, String... files) {
            return new Place(List.of(files), region, twice, "", late);
        }

        static Place ofRung(String file, String twice, String killed) {
            return new Place(List.of(file), "", twice, killed, "");
        }
    }

    private static final Map<String, Place> PLACES = Map.ofEntries(
            entry("none", Place.of("none", "shop.write(", "", "guard/Section")),
            entry("synchronized", Place.of("synchronized", "synchronized (this)", "", "guard/Guards")),
            entry("pessimistic", Place.of("pessimistic", "", "", "guard/Section")),
            entry("optimistic", Place.of("optimistic", "", "", "guard/Guards")),
            entry(Guards.HOLDFAST, Place.of("holdfast", "", "checkFence(", "guard/HoldfastGuard", "guard/Section")),
            entry(Guards.SPLIT, Place.of("split", "", "", "guard/Guards")),
            entry("setnx", Place.ofRung("redis/SetNx", WORK, RELEASE)),
            entry("setnx-finally", Place.ofRung("redis/SetNxFinally", WORK, RELEASE)),
            entry("setnx-expire", Place.ofRung("redis/SetNxExpire", WORK, RELEASE)),
            entry("setnx-ex", Place.ofRung("redis/SetNxEx", WORK, RELEASE)),
            entry("unique-value", Place.ofRung("redis/UniqueValue", WORK, RELEASE)),
            entry("lua-delete", Place.ofRung("redis/LuaDelete", WORK, "redis.eval(")),
            entry("watchdog", Place.ofRung("redis/Watchdog", "-> renew(", "redis.eval(")),
            entry("query-and-occupy", Place.ofRung("sql/QueryAndOccupy", "look(", "state = 'free'")),
            entry("unique-row", Place.ofRung("sql/UniqueRow", WORK, "DELETE FROM")),
            entry("host-and-thread", Place.ofRung("sql/HostAndThread", "depth = depth + 1", "DELETE FROM")),
            entry("heartbeat", Place.ofRung("sql/Heartbeat", "UPDATE leased", "DELETE FROM")),
            entry("one-node", Place.ofRung("zookeeper/OneNode", WORK, "zooKeeper.delete(")),
            entry("one-node-looked-at", Place.ofRung("zookeeper/OneNodeLookedAt", WORK, "zooKeeper.delete(")),
            entry("sequential-nodes", Place.ofRung("zookeeper/SequentialNodes", WORK, "zooKeeper.delete(")),
            entry("put-if-absent", Place.ofRung("etcd/PutIfAbsent", WORK, DELETE)),
            entry("put-with-lease", Place.ofRung("etcd/PutWithLease", WORK, DELETE)),
            entry("lock-service", Place.ofRung("etcd/LockService", WORK, ".unlock(mine)")),
            entry("add", Place.ofRung("memcached/Add", WORK, DELETE)),
            entry("add-then-touch", Place.ofRung("memcached/AddThenTouch", WORK, DELETE)),
            entry("add-with-lease", Place.ofRung("memcached/AddWithLease", WORK, DELETE)));

    private GuardCode() {}

    /**
     * The code of a guard.
     *
     * @param failing the indices of the lines by what has happened: twice, killed, late
     */
    record Shown(List<String> lines, Map<String, Integer> failing) {}

    /** That of the guard with this id. */
    static Shown of(String guard) {
        Place place = Objects.requireNonNull(PLACES.get(guard), guard);
        List<String> lines = new ArrayList<>();
        for (String file : place.files()) {
            lines.addAll(region(file, place.region()));
        }
        Map<String, Integer> failing = new TreeMap<>();
        mark(failing, "twice", lines, place.twice());
        mark(failing, "killed", lines, place.killed());
        mark(failing, "late", lines, place.late());
        return new Shown(List.copyOf(lines), failing);
    }

    private static void mark(Map<String, Integer> failing, String what, List<String> lines, String part) {
        if (!part.isEmpty()) {
            failing.put(what, last(lines, part));
        }
    }

    private static int last(List<String> lines, String part) {
        for (int i = lines.size() - 1; i >= 0; i--) {
            if (lines.get(i).contains(part)) {
                return i;
            }
        }
        throw new IllegalStateException("no line of the guard's code has '" + part + "'");
    }

    private static List<String> region(String file, String name) {
        String source = read("source/" + file + ".java");
        return REGION.matcher(source)
                .results()
                .filter(region ->
                        name.isEmpty() || region.group().stripLeading().startsWith("// code " + name + "\n"))
                .findFirst()
                .map(region ->
                        region.group(1).stripTrailing().stripIndent().lines().toList())
                .orElseThrow(() -> new IllegalStateException(file + " has no region " + name));
    }

    /** All of them, as a script that sets {@code codes}. */
    static String script() {
        Map<String, Shown> codes = new TreeMap<>();
        PLACES.keySet().forEach(guard -> codes.put(guard, of(guard)));
        return "const codes = "
                + JsonMapper.builder().build().writeValueAsString(codes).replace("<", "\\u003c") + ";\n";
    }

    private static String read(String resource) {
        try (InputStream in = GuardCode.class.getClassLoader().getResourceAsStream(resource)) {
            return new String(Objects.requireNonNull(in, resource).readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read " + resource, e);
        }
    }
}
