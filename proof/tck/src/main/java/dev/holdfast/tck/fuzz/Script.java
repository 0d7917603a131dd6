package dev.holdfast.tck.fuzz;

import dev.holdfast.tck.fuzz.Op.Verb;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What the clients do, line by line; as text {@code INFLIGHT: OP; OP; …}.
 *
 * @param inFlight how many requests may be under way at once; with one, all answers are known exactly
 * @param quiet whether no answer depends on time, see {@link Quiet}; as text {@code quiet} in the place of 1
 */
record Script(int inFlight, boolean quiet, List<Op> ops) {
    static final int CLIENTS = 4;
    private static final int NAMES = 3;
    private static final long[] SHORT = {100, 150, 300, 600, 2_000};
    private static final long HOUR = 3_600_000;
    private static final long[] LONG = {1_000, 2_500, 6_000};
    private static final Map<Verb, Integer> WEIGHTS = Map.ofEntries(
            Map.entry(Verb.TRY, 22),
            Map.entry(Verb.WAIT, 14),
            Map.entry(Verb.REPEAT, 4),
            Map.entry(Verb.CANCEL, 4),
            Map.entry(Verb.RENEW, 12),
            Map.entry(Verb.EXTEND, 2),
            Map.entry(Verb.DOWNGRADE, 5),
            Map.entry(Verb.RELEASE, 14),
            Map.entry(Verb.WITHDRAW, 3),
            Map.entry(Verb.STATUS, 6),
            Map.entry(Verb.LIST, 2),
            Map.entry(Verb.REVOKE, 2),
            Map.entry(Verb.BREAK, 2),
            Map.entry(Verb.CLOSE, 1),
            Map.entry(Verb.KILL, 2),
            Map.entry(Verb.PASS, 12));

    private static final Map<Verb, Integer> QUIET_WEIGHTS = Map.ofEntries(
            Map.entry(Verb.TRY, 24),
            Map.entry(Verb.WAIT, 10),
            Map.entry(Verb.CANCEL, 4),
            Map.entry(Verb.RENEW, 10),
            Map.entry(Verb.EXTEND, 2),
            Map.entry(Verb.DOWNGRADE, 5),
            Map.entry(Verb.RELEASE, 12),
            Map.entry(Verb.WITHDRAW, 3),
            Map.entry(Verb.STATUS, 22),
            Map.entry(Verb.LIST, 6),
            Map.entry(Verb.BREAK, 3));

    /**
     * Without what is not known after a clock was set back: what the dead left behind, and claims that are asked again
     * when the counter of numbers may be gone.
     */
    private static final Map<Verb, Integer> CLOCK_WEIGHTS = Map.ofEntries(
            Map.entry(Verb.TRY, 24),
            Map.entry(Verb.WAIT, 14),
            Map.entry(Verb.CANCEL, 3),
            Map.entry(Verb.RENEW, 16),
            Map.entry(Verb.DOWNGRADE, 4),
            Map.entry(Verb.RELEASE, 14),
            Map.entry(Verb.WITHDRAW, 3),
            Map.entry(Verb.STATUS, 6),
            Map.entry(Verb.LIST, 2),
            Map.entry(Verb.BREAK, 2),
            Map.entry(Verb.PASS, 6));

    /** What goes wrong in a script. */
    enum Trouble {
        NONE,
        WIRE,
        SERVER,
        CLOCK
    }

    static Script parse(String text) {
        String[] halves = text.split(":", 2);
        List<Op> ops = Arrays.stream(halves[1].split(";"))
                .filter(line -> !line.isBlank())
                .map(Op::parse)
                .toList();
        String most = halves[0].strip();
        return most.equals("quiet") ? new Script(1, true, ops) : new Script(Integer.parseInt(most), false, ops);
    }

    @Override
    public String toString() {
        return (quiet ? "quiet" : inFlight) + ": "
                + ops.stream().map(Op::toString).collect(Collectors.joining("; "));
    }

    Trouble trouble() {
        return ops.stream()
                .map(Op::verb)
                .filter(Verb::isFault)
                .map(Script::troubleOf)
                .max(Trouble::compareTo)
                .orElse(Trouble.NONE);
    }

    private static Trouble troubleOf(Verb verb) {
        return switch (verb) {
            case CLOCK -> Trouble.CLOCK;
            case STOP, CRASH -> Trouble.SERVER;
            default -> Trouble.WIRE;
        };
    }

    /** With one more line, before the line of that number. */
    Script with(int index, Op more) {
        List<Op> all = new ArrayList<>(ops);
        all.add(index, more);
        return new Script(inFlight, quiet, List.copyOf(all));
    }

    /** Without the lines that only read. */
    Script withoutReads() {
        return new Script(
                inFlight, quiet, ops.stream().filter(op -> !op.verb().isRead()).toList());
    }

    static Script generate(long seed, Trouble trouble) {
        return new Maker(seed, trouble, false).make();
    }

    /** One whose answers do not depend on time. */
    static Script quiet(long seed) {
        return new Maker(seed, Trouble.NONE, true).make();
    }

    /** Shorter scripts to try in its place: without a half, a quarter, …, a line. */
    Stream<Script> shorter() {
        List<Script> all = new ArrayList<>();
        for (int length = Math.max(1, ops.size() / 2); length >= 1; length /= 2) {
            for (int from = 0; from < ops.size(); from += length) {
                List<Op> rest = new ArrayList<>(ops.subList(0, from));
                rest.addAll(ops.subList(Math.min(from + length, ops.size()), ops.size()));
                all.add(new Script(inFlight, quiet, rest));
            }
        }
        return all.stream().filter(each -> !each.ops.isEmpty());
    }

    /** Draws a script. */
    private static final class Maker {
        private final Random random;
        /** Of its own, so that a seed stays what it was. */
        private final Random clogs;

        private final Trouble trouble;
        private final boolean quiet;
        private final Map<Verb, Integer> weights;
        private final List<Op> ops = new ArrayList<>();
        private final int theme;
        private int claims;

        Maker(long seed, Trouble trouble, boolean quiet) {
            this.random = new Random(seed * 0x9E3779B97F4A7C15L);
            this.clogs = new Random(seed * 0xD1B54A32D192ED03L);
            this.trouble = trouble;
            this.quiet = quiet;
            this.weights = quiet ? QUIET_WEIGHTS : trouble == Trouble.CLOCK ? CLOCK_WEIGHTS : WEIGHTS;
            this.theme = random.nextInt(4);
        }

        Script make() {
            boolean alone = trouble == Trouble.SERVER || trouble == Trouble.CLOCK;
            int length = alone ? 5 + random.nextInt(8) : 6 + random.nextInt(20);
            int inFlight = random.nextInt(3) == 0 && !quiet && trouble != Trouble.CLOCK ? 3 : 1;
            for (int i = 0; i < length; i++) {
                Op next = draw();
                boolean asks = next.verb() != Verb.PASS && next.verb() != Verb.CLOSE && next.verb() != Verb.KILL;
                boolean after = trouble == Trouble.SERVER && random.nextInt(4) == 0;
                if (asks
                        && !after
                        && trouble != Trouble.NONE
                        && random.nextInt(trouble == Trouble.SERVER ? 9 : 6) == 0) {
                    ops.add(fault(next));
                }
                ops.add(next);
                if (after) {
                    ops.add(new Op(0, Verb.CRASH, 0, 0, "-", 0));
                }
            }
            return new Script(inFlight, quiet, List.copyOf(ops));
        }

        private Op fault(Op next) {
            if (trouble == Trouble.CLOCK) {
                return new Op(0, Verb.CLOCK, 0, 0, "-", pick(HOUR, -HOUR));
            }
            if (trouble == Trouble.SERVER) {
                return new Op(0, Verb.STOP, 0, 0, "-", pick(300, 300, 300, 6_000));
            }
            Verb verb = List.of(Verb.DROP, Verb.DROP, Verb.HOLD, Verb.MUTE, Verb.DEAF, Verb.CUT)
                    .get(random.nextInt(6));
            int label = 0;
            if (verb == Verb.HOLD && clogs.nextBoolean()) {
                verb = Verb.CLOG;
                label = clogs.nextInt(100);
            }
            return new Op(ownerOf(next), verb, 0, label, "-", pick(5, 50, 200, 1_300));
        }

        private int ownerOf(Op next) {
            return ops.stream()
                    .filter(op -> (op.verb() == Verb.TRY || op.verb() == Verb.WAIT) && op.claim() == next.claim())
                    .filter(op -> usesClaim(next.verb()))
                    .mapToInt(Op::client)
                    .findFirst()
                    .orElse(next.client());
        }

        private Op draw() {
            int client = random.nextInt(CLIENTS);
            Verb verb = verb();
            if (usesClaim(verb) && claims == 0) {
                verb = Verb.TRY;
            }
            int name = random.nextInt(4) == 0 ? random.nextInt(NAMES) : 0;
            int recent = Math.max(0, claims - 4);
            int claim = usesClaim(verb) ? recent + random.nextInt(claims - recent) : 0;
            boolean claiming = verb == Verb.TRY || verb == Verb.WAIT;
            long millis = verb == Verb.PASS ? pick(1, 20, 60, 110, 160, 320) : lease(verb);
            return new Op(client, verb, name, claiming ? claims++ : claim, claiming ? mode(name) : "-", millis);
        }

        private Verb verb() {
            int left = random.nextInt(
                    weights.values().stream().mapToInt(Integer::intValue).sum());
            for (Verb verb : Verb.values()) {
                left -= weights.getOrDefault(verb, 0);
                if (left < 0) {
                    return verb;
                }
            }
            throw new AssertionError();
        }

        private static boolean usesClaim(Verb verb) {
            return switch (verb) {
                case REPEAT, CANCEL, RENEW, EXTEND, DOWNGRADE, RELEASE, WITHDRAW -> true;
                default -> false;
            };
        }

        private String mode(int name) {
            int n = 2 + random.nextInt(2) + (random.nextInt(8) == 0 ? 6 : 0);
            String permits = "P" + (1 + random.nextInt(n)) + "/" + n;
            return switch ((theme + name) % 4) {
                case 0 -> "X";
                case 1 -> random.nextInt(3) == 0 ? "X" : "S";
                case 2 -> random.nextInt(12) == 0 ? "X" : permits;
                default -> List.of("X", "S", permits).get(random.nextInt(3));
            };
        }

        private long lease(Verb verb) {
            if (quiet) {
                return verb == Verb.TRY && random.nextInt(4) == 0 ? SHORT[0] : Quiet.LEASE;
            }
            long[] from = trouble == Trouble.NONE ? SHORT : LONG;
            return from[random.nextInt(from.length)];
        }

        private long pick(long... values) {
            return values[random.nextInt(values.length)];
        }
    }
}
