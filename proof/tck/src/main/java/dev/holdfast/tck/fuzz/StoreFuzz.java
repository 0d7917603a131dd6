package dev.holdfast.tck.fuzz;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreContext;
import dev.holdfast.tck.fuzz.Script.Trouble;
import dev.holdfast.testbed.ServerClock;
import dev.holdfast.testbed.ServerProcess;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.api.Timeout;

/**
 * Random histories on a real store: clients claim, wait, renew, release, look, break and die in an order that nobody
 * thought of, on wires and servers that fail; a model says of each answer whether it is possible, and in the end
 * everybody who lives must get what they wait for. A store is tested by a subclass that says how to open it.
 *
 * <pre>
 *   seed ──► Script ──► History ──► the store, through FuzzClient and its proxy
 *                          │
 *                          └──► NameModel, one for each lock: all states that explain the answers so far
 * </pre>
 *
 * <p>A script that breaks a rule is made as short as it gets and printed with the command that plays it again. Settings,
 * as system properties:
 *
 * <ul>
 *   <li>{@code holdfast.fuzz.seconds}: how long, 12 unless it is given
 *   <li>{@code holdfast.fuzz.seed}: where to begin, 1 unless it is given
 *   <li>{@code holdfast.fuzz.workers}: how many histories at once, 4 unless it is given
 *   <li>{@code holdfast.fuzz.trouble}: {@code none}, {@code wire} or {@code server}, to have only that; {@code clock} to
 *       have the server's clock set, which is done in no other run
 *   <li>{@code holdfast.fuzz.quiet}: after every how many seeds one is played with its reads and without, 6 unless given
 *   <li>{@code holdfast.fuzz.script}: one script, as it was printed, and nothing else
 *   <li>{@code holdfast.fuzz.packets}: how many seconds to go through the packets of short scripts, 5 unless it is given
 *   <li>{@code holdfast.fuzz.log}: {@code true} prints all histories line by line
 *   <li>{@code holdfast.fuzz.times}: how often that one is played, 20 unless it is given
 * </ul>
 */
@TestInstance(Lifecycle.PER_CLASS)
@Timeout(value = 48, unit = TimeUnit.HOURS) // the settings say how long it takes
public abstract class StoreFuzz {
    /** Enough histories to have met all that is meant to be met. */
    private static final int MANY = 300;

    private final FuzzStats stats = new FuzzStats();
    private final Player player = new Player(this, stats);

    /** For subclasses. */
    protected StoreFuzz() {}

    /**
     * Opens the store for one more client.
     *
     * @param context the client's time and clock, which are wrong
     * @param port the port to use in the place of {@link #port}: a proxy is there; 0 if the store has none
     * @param client from 0 on; what a client may have of its own, such as a time zone, is drawn by it
     * @throws Exception if it cannot be opened
     */
    protected abstract Store open(StoreContext context, int port, int client) throws Exception;

    /** Where the server listens on this machine; empty if there is none. */
    protected OptionalInt port() {
        return OptionalInt.empty();
    }

    /** The server, to stop and to kill; what it answered must survive that. Empty if it can not be killed. */
    protected Optional<ServerProcess> process() {
        return Optional.empty();
    }

    /**
     * Called after a release where the server may be killed: has it put on disk what it may forget by its documents. What
     * comes after that and before the kill must survive by itself.
     *
     * @throws Exception if it cannot
     */
    protected void keepReleases() throws Exception {}

    /** The server's clock, if {@linkplain #setsClocks it is to be set}. Empty if it cannot be. */
    protected Optional<ServerClock> clock() {
        return Optional.empty();
    }

    /** Whether the clock of the server is to be set: only where that is asked for. */
    protected static boolean setsClocks() {
        return Trouble.CLOCK.name().equalsIgnoreCase(System.getProperty("holdfast.fuzz.trouble"))
                || System.getProperty("holdfast.fuzz.script", "").contains(" clock ");
    }

    /**
     * How far ahead the floor of a claim is now and then. Shorter where one number counts for all locks, which would never be
     * behind the clock again.
     */
    protected Duration ahead() {
        return Duration.ofHours(1);
    }

    /** All that is stored under names that begin so; empty if that cannot be told. */
    protected Optional<String> fingerprint(String prefix) throws Exception {
        return Optional.empty();
    }

    /**
     * How long a client that died may keep others waiting beyond its lease, as documented: its place in the queue for a
     * second and a half at least, and then an offer of a second.
     */
    protected Duration passesTheDead() {
        return Duration.ofSeconds(3);
    }

    /** How long a holder may count on its session without a word, if grants are bound to one. */
    protected Duration session() {
        return Duration.ZERO;
    }

    /** After how long an outage must have been told to those who wait. */
    protected Duration wordOfAnOutage() {
        return Duration.ofSeconds(6);
    }

    /** Whether the store keeps exclusive locks alone: then all claims are of that mode, whatever the script says. */
    protected boolean exclusiveOnly() {
        return false;
    }

    /** Whether the store knows what is left of a lease; otherwise that goes by the clocks of the clients, which are wrong. */
    protected boolean tellsLeaseLeft() {
        return true;
    }

    /**
     * How much longer than its lease a grant may be in the store, and may still be renewed there. If it is, no history is played
     * with its reads and without.
     */
    protected Duration staysAfterItsLease() {
        return Duration.ZERO;
    }

    /** Whether grants can be given a fresh number. */
    protected boolean isExtendable() {
        return false;
    }

    /**
     * Whether a claim that is asked again while it holds keeps its number, and a lease that was made longer meanwhile;
     * otherwise the number may change, and so may the lease of an exclusive claim.
     */
    protected boolean repeatsKeepNumbers() {
        return true;
    }

    /** Whether a claim may be asked again after it was broken or made a reader. */
    protected boolean repeatsChanged() {
        return true;
    }

    /** Scripts that once broke a rule. */
    protected List<String> regressions() {
        return List.of();
    }

    /** Which of the races that a long run must meet, this store cannot come to; see {@link Campaign#RACES}. */
    protected Set<String> racesOutOfReach() {
        return Set.of();
    }

    final boolean isSessionBound() {
        return !session().isZero();
    }

    @Test
    void noHistoryBreaksARule() throws Exception {
        String script = System.getProperty("holdfast.fuzz.script");
        if (script != null) {
            for (int i = 0; i < Integer.getInteger("holdfast.fuzz.times", 20); i++) {
                player.playOrFail(Script.parse(script), "the given script");
            }
            return;
        }
        new Campaign(this, player, stats).run();
        System.out.println(getClass().getSimpleName() + ": " + stats);
        assertThat(stats.bitten.sum())
                .as("of %s faults bit", stats.planned)
                .isGreaterThanOrEqualTo(fewestBites(stats.planned.sum()));
        // Long runs on ZooKeeper have 4.6 % of them: a short one may have twice that by chance.
        assertThat(stats.unjudged.sum())
                .as("histories too wide to judge")
                .isLessThanOrEqualTo(3 + stats.histories.sum() / 10);
        if (stats.histories.sum() >= MANY && System.getProperty("holdfast.fuzz.trouble") == null) {
            assertThat(Campaign.RACES)
                    .as("races that must be met")
                    .allMatch(race -> racesOutOfReach().contains(race) || stats.hasReached(race));
        }
    }

    @Test
    void whatOnceBrokeARuleDoesSoNoMore() throws Exception {
        for (String script : regressions()) {
            player.playOrFail(Script.parse(script), "an old one");
        }
    }

    @Test
    void aFaultAtEachPacketOfAShortScriptBreaksNoRule() throws Exception {
        if (port().isPresent() && System.getProperty("holdfast.fuzz.script") == null) {
            EachPacket each = new EachPacket(this, player);
            each.run(Duration.ofSeconds(Long.getLong("holdfast.fuzz.packets", 5)));
            System.out.println(getClass().getSimpleName() + ": " + each);
        }
    }

    /** Four of five, less three standard deviations: with few faults, that is how far chance goes. */
    private static long fewestBites(long planned) {
        return (long) (0.8 * planned - 3 * Math.sqrt(0.8 * 0.2 * planned));
    }

    static boolean allows(Trouble trouble) {
        return System.getProperty("holdfast.fuzz.trouble", trouble.name()).equalsIgnoreCase(trouble.name());
    }
}
