package dev.holdfast.memcached;

import java.util.Set;

/** The cases of the contract about sessions, shared modes, records, and requests in order. */
final class ExpectedSkips {
    static final Set<String> ALL = Set.of(
            "Grants.aClaimOfAnotherThreadDoesNotOvertakeAReleaseThatIsAboutToBeSent",
            "Leases.aGrantOfASessionStandsWhileTheSessionLivesAndEndsWithIt",
            "Modes.readersShareANameAndExcludeTheWriter",
            "Modes.aWriterThatWaitsIsServedWhenTheReadersAreGone",
            "Modes.aWriterThatIsMadeAReaderStandsAsItDidAndReadersComeInWhereTheStoreSaysSo",
            "Modes.readersWhoWaitComeInWhenAWriterIsMadeAReaderUpToTheNextWriter",
            "Modes.noMorePermitsAreOutThanThereAre",
            "Modes.aPermitThatNobodyReturnsComesBackByItself",
            "Reading.permitsThatRanOutComeBackThoughAStatusWasReadMeanwhile",
            "Reading.aWriterComesInWhenTheLastReaderLeavesThoughAStatusWasReadMeanwhile",
            "Reading.allPermitsCanBeTakenAgainWhenAllHaveRunOutWhileTheyWereRead",
            "Reading.aLockIsFreeWhenAllReadersHaveRunOutWhileTheyWereRead",
            "Reading.breakingAPermitThatHasRunOutTakesNothingFromTheOthers",
            "Onces",
            "OnceProcesses",
            "Wanted",
            "ReadWriteLocks",
            "Downgrades",
            "Semaphores",
            "SharedProcesses");

    private ExpectedSkips() {}
}
