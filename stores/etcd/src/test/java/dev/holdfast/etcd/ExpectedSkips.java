package dev.holdfast.etcd;

import java.util.Set;

/** The cases of the contract about leases of grants. */
final class ExpectedSkips {
    static final Set<String> ALL = Set.of(
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
            "Reading.breakingAPermitThatHasRunOutTakesNothingFromTheOthers",
            "Reading.allPermitsCanBeTakenAgainWhenAllHaveRunOutWhileTheyWereRead",
            "Reading.permitsThatRanOutComeBackThoughAStatusWasReadMeanwhile");

    private ExpectedSkips() {}
}
