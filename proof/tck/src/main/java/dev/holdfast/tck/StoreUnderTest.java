package dev.holdfast.tck;

import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreContext;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;

/** What a subclass of the contract says of its store: how it is opened, how it is broken, what it keeps and cannot do. */
public abstract class StoreUnderTest {
    /** What is skipped where grants have no lease of their own, but end with a session: for {@link #expectedSkips}. */
    protected static final Set<String> SKIPS_WITHOUT_LEASES = Set.of(
            "Close.grantsAreLeftToTheirLeasesByTheClose",
            "Holds.aFixedLeaseIsProlongedByExtend",
            "Leases.aBatchMayStateALeaseForEachGrant",
            "Leases.aGrantRunsOutByItselfAfterItsLeaseNotBefore",
            "Leases.aRenewalBeginsTheLeaseAnew",
            "Leases.aRenewalIsForTheLeaseTheGrantStates",
            "Leases.aRenewalOfALongerLeaseOutlastsTheFirst",
            "Leases.anExtensionBeginsTheLeaseAnewWhereItCanBeHad",
            "Leases.theSameClaimAskedAgainBeginsItsLeaseAnew",
            "Modes.aPermitThatNobodyReturnsComesBackByItself",
            "Modes.aWriterThatIsMadeAReaderKeepsItsLease",
            "Queue.aWaiterGetsInWhenALeaseWasMadeShorter",
            "Queue.aWaiterGetsInWhenAShortLeaseRunsOutAfterALongOne",
            "Queue.aWaiterGetsInWhenTheLeaseOfASilentHolderRunsOut",
            "Queue.aWaitersLeaseBeginsWhenItIsGranted",
            "Reading.aBrokenLockStaysBrokenUntilItsLeaseEnds",
            "Reading.aLockIsFreeWhenAllReadersHaveRunOutWhileTheyWereRead",
            "Reading.aWriterComesInWhenTheLastReaderLeavesThoughAStatusWasReadMeanwhile",
            "Reading.allPermitsCanBeTakenAgainWhenAllHaveRunOutWhileTheyWereRead",
            "Reading.breakingAPermitThatHasRunOutTakesNothingFromTheOthers",
            "Reading.permitsThatRanOutComeBackThoughAStatusWasReadMeanwhile");

    /** What is skipped where locks are exclusive alone: for {@link #expectedSkips}. */
    protected static final Set<String> SKIPS_WITHOUT_SHARING = Set.of(
            "Downgrades",
            "Modes.aPermitThatNobodyReturnsComesBackByItself",
            "Modes.aWriterThatIsMadeAReaderStandsAsItDidAndReadersComeInWhereTheStoreSaysSo",
            "Modes.aWriterThatWaitsIsServedWhenTheReadersAreGone",
            "Modes.noMorePermitsAreOutThanThereAre",
            "Modes.readersShareANameAndExcludeTheWriter",
            "Modes.readersWhoWaitComeInWhenAWriterIsMadeAReaderUpToTheNextWriter",
            "ReadWriteLocks",
            "Reading.aLockIsFreeWhenAllReadersHaveRunOutWhileTheyWereRead",
            "Reading.aWriterComesInWhenTheLastReaderLeavesThoughAStatusWasReadMeanwhile",
            "Reading.allPermitsCanBeTakenAgainWhenAllHaveRunOutWhileTheyWereRead",
            "Reading.breakingAPermitThatHasRunOutTakesNothingFromTheOthers",
            "Reading.permitsThatRanOutComeBackThoughAStatusWasReadMeanwhile",
            "Semaphores",
            "SharedProcesses");

    /** For {@link StoreContract}. */
    StoreUnderTest() {}

    /**
     * Opens the store for one more client. All that are opened in one test share the same locks; the kit closes them.
     *
     * @param context the time by which the store stamps; not the system's
     */
    protected abstract Store open(StoreContext context);

    /**
     * The URL by which another JVM with this class path reaches the same locks; empty where none can, and then the cases
     * between processes are skipped.
     */
    protected Optional<String> url() {
        return Optional.empty();
    }

    /**
     * A short lease, 100 ms or more, for grants whose end is waited for. Long enough that a request on a busy machine is
     * answered well within it. Of no account where grants are bound to a session.
     */
    protected Duration lease() {
        return Duration.ofMillis(300);
    }

    /** How much longer than its lease a grant may be in the store, which rounds it up. */
    protected Duration staysAfterItsLease() {
        return Duration.ofMillis(20);
    }

    /** After this long, something that should happen soon counts as not happening: it bounds no test that passes. */
    protected Duration patience() {
        return Duration.ofSeconds(15);
    }

    /** How often the cases that look for races try: 100 times, or as the system property {@code holdfast.kit.rounds} says. */
    protected int rounds() {
        return Integer.getInteger("holdfast.kit.rounds", 100);
    }

    /**
     * Breaks the store until what is returned is closed: meanwhile nobody can claim, renew or release. Empty where that
     * cannot be done, and then the cases of outages are skipped.
     *
     * @throws Exception if it could not be broken
     */
    protected Optional<AutoCloseable> breakStore() throws Exception {
        return Optional.empty();
    }

    /**
     * How many records (rows, keys, nodes) the store has now; empty where nobody can count them.
     *
     * @throws Exception if they could not be counted
     */
    protected OptionalLong records() throws Exception {
        return OptionalLong.empty();
    }

    /**
     * How many records may stay, at most and as documented, when so many names were used once and nobody wants them.
     *
     * @param names how many
     */
    protected long recordsKept(long names) {
        return 0;
    }

    /**
     * What is skipped on this store, each as {@code Group.test} such as {@code Leases.aRenewalOfALongerLeaseOutlastsTheFirst},
     * or as {@code Group} where that is all of it. Anything else that is skipped fails.
     */
    protected Set<String> expectedSkips() {
        return Set.of();
    }

    /** Some skips and more. */
    protected static Set<String> with(Set<String> skips, String... more) {
        Set<String> all = new HashSet<>(skips);
        all.addAll(List.of(more));
        return all;
    }
}
