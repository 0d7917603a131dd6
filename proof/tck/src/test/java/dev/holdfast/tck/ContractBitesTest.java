package dev.holdfast.tck;

import static dev.holdfast.tck.Faulty.bites;
import static dev.holdfast.tck.Faulty.changing;
import static dev.holdfast.tck.Faulty.changingClaims;
import static dev.holdfast.tck.Faulty.changingGrants;
import static dev.holdfast.tck.Faulty.changingNames;

import dev.holdfast.LockStatus;
import dev.holdfast.spi.Answer;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Mode;
import dev.holdfast.spi.Pending;
import dev.holdfast.spi.Renewal;
import dev.holdfast.spi.Store;
import dev.holdfast.spi.support.Asked;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Each test puts one fault into a sound store, and the case meant for it must fail. */
class ContractBitesTest {
    @Test
    void aReleaseThatFreesAnothersGrant() {
        bites(
                contract -> contract.new StaleHolders(),
                StaleHolderCases::aStaleHoldersReleaseChangesNothing,
                inner -> new ForwardingStore(inner) {
                    @Override
                    public CompletionStage<Boolean> release(Grant grant) {
                        return breakAll(inner, grant.name());
                    }
                });
    }

    @Test
    void aRenewalThatBelievesItsCaller() {
        UnaryOperator<Store> fault = inner -> new ForwardingStore(inner) {
            @Override
            public CompletionStage<Map<ClaimId, Renewal>> renew(Collection<Grant> grants) {
                Map<ClaimId, Renewal> answers = new HashMap<>();
                grants.forEach(grant -> answers.put(grant.id(), Renewal.held(grant.sentNanos(), false)));
                return CompletableFuture.completedFuture(answers);
            }
        };
        bites(contract -> contract.new StaleHolders(), StaleHolderCases::aStaleHoldersRenewalRevivesNothing, fault);
        bites(contract -> contract.new Leases(), LeaseCases::aBatchOfRenewalsHasAnAnswerForEachGrant, fault);
        bites(contract -> contract.new Leases(), LeaseCases::aRenewalOfALongerLeaseOutlastsTheFirst, fault);
        bites(contract -> contract.new Stamps(), StampCases::aRenewalIsStampedBetweenTheCallAndTheAnswer, fault);
        bites(contract -> contract.new Breaking(), BreakCases::aBrokenGrantIsNotRenewed, fault);
    }

    @Test
    void aBatchThatIsCutOff() {
        bites(
                contract -> contract.new Leases(),
                LeaseCases::aBatchOfRenewalsHasAnAnswerForEachGrant,
                inner -> new ForwardingStore(inner) {
                    @Override
                    public CompletionStage<Map<ClaimId, Renewal>> renew(Collection<Grant> grants) {
                        return inner.renew(List.copyOf(grants).subList(0, Math.min(999, grants.size())));
                    }
                });
    }

    @Test
    void aFailedTryThatGoesOnWaiting() {
        bites(
                contract -> contract.new Grants(),
                GrantCases::aFailedTryLeavesNothing,
                changing(Claims::waiting, ContractBitesTest::impatient));
    }

    @Test
    void aClaimThatIsForgottenWhenItIsAskedAgain() {
        bites(
                contract -> contract.new Grants(),
                GrantCases::theSameClaimAskedAgainSucceedsAgain,
                changingClaims(claim -> new Claim(
                        ClaimId.random(),
                        claim.name(),
                        claim.mode(),
                        claim.lease(),
                        claim.waits(),
                        claim.floor(),
                        claim.holder())));
    }

    @Test
    void aFloorThatIsNotHeeded() {
        bites(
                contract -> contract.new Numbers(),
                NumberCases::aNumberIsAboveTheFloorOrTheClaimIsRefused,
                changingClaims(claim -> Claims.floor(claim, 0)));
    }

    @Test
    void numbersThatStandStill() {
        UnaryOperator<Store> fault = changingGrants(
                grant -> new Grant(grant.id(), grant.name(), grant.mode(), grant.lease(), 7L, grant.sentNanos()));
        bites(contract -> contract.new Numbers(), NumberCases::numbersRiseFromGrantToGrantAcrossClients, fault);
        bites(contract -> contract.new Numbers(), NumberCases::numbersRiseAcrossAHandOverToAWaiter, fault);
        bites(
                contract -> contract.new Exclusion(),
                ExclusionCases::threadsOfSeveralClientsExcludeEachOtherAndTokensRiseInTheOrderOfHolding,
                fault);
    }

    @Test
    void aLeaseThatEndsTooEarlyOrNever() {
        bites(
                contract -> contract.new Leases(),
                LeaseCases::aGrantRunsOutByItselfAfterItsLeaseNotBefore,
                changingClaims(claim -> Claims.lease(claim, claim.lease().dividedBy(10))),
                Duration.ofSeconds(5));
        UnaryOperator<Store> never = changingClaims(claim -> Claims.lease(claim, Duration.ofHours(1)));
        bites(contract -> contract.new Leases(), LeaseCases::aGrantRunsOutByItselfAfterItsLeaseNotBefore, never);
        bites(contract -> contract.new Queue(), QueueCases::aWaiterGetsInWhenTheLeaseOfASilentHolderRunsOut, never);
    }

    @Test
    void aWithdrawalThatDoesNothing() {
        UnaryOperator<Store> fault = inner -> new ForwardingStore(inner) {
            @Override
            public CompletionStage<Void> withdraw(Claim claim) {
                return inner.status(claim.name()).thenAccept(status -> {});
            }
        };
        bites(contract -> contract.new Grants(), GrantCases::withdrawingAGrantFreesItsName, fault);
        bites(contract -> contract.new Abandoned(), AbandonedCases::aClaimWhoseAnswerIsLostLeavesNothing, fault);
    }

    @Test
    @Tag("thorough")
    void aCancelThatDoesNothing() {
        UnaryOperator<Store> fault = changing(claim -> claim, Faulty::deaf);
        bites(
                contract -> contract.new Queue(),
                QueueCases::aCancelledClaimIsAnsweredWithNothingAndLeavesNothing,
                fault);
        bites(contract -> contract.new Abandoned(), AbandonedCases::anInterruptedClaimLeavesNothing, fault);
    }

    @Test
    void anExtensionThatPassesWaitersBy() {
        bites(
                contract -> contract.new Leases(),
                LeaseCases::anExtensionIsRefusedWhileAnotherClientWaitsAndTheGrantStands,
                inner -> new ForwardingStore(inner) {
                    @Override
                    public CompletionStage<Optional<Grant>> extend(Grant grant) {
                        return CompletableFuture.completedFuture(Optional.of(grant));
                    }
                });
    }

    /** Ends every grant of a name. */
    static CompletionStage<Boolean> breakAll(Store inner, String name) {
        return inner.status(name)
                .thenCompose(status -> status.grant()
                        .map(held -> inner.breakGrant(name, held.token() / 1024, true)
                                .thenCompose(broken -> breakAll(inner, name))
                                .thenApply(broken -> true))
                        .orElse(CompletableFuture.completedFuture(false)));
    }

    @Test
    void aBreakThatComparesNoNumber() {
        UnaryOperator<Store> fault = inner -> new ForwardingStore(inner) {
            @Override
            public CompletionStage<Boolean> breakGrant(String name, long number, boolean now) {
                return breakAll(inner, name);
            }
        };
        bites(
                contract -> contract.new Breaking(),
                BreakCases::breakingAGrantThatWasFollowedByAnotherChangesNothing,
                fault);
        bites(contract -> contract.new ReadWriteLocks(), ReadWriteCases::breakingOneReaderLeavesTheOthers, fault);
        bites(contract -> contract.new Semaphores(), SemaphoreCases::breakingSomePermitsLeavesTheOthers, fault);
    }

    @Test
    void aBreakThatDoesNothingOrTooMuch() {
        Duration lease = Duration.ofSeconds(5); // so that it has not run out by itself on a busy machine
        bites(
                contract -> contract.new Breaking(),
                BreakCases::aBrokenGrantIsNotRenewed,
                inner -> new ForwardingStore(inner) {
                    @Override
                    public CompletionStage<Boolean> breakGrant(String name, long number, boolean now) {
                        return inner.status(name).thenApply(LockStatus::isHeld);
                    }
                },
                lease);
        bites(
                contract -> contract.new Breaking(),
                BreakCases::theNextGrantComesWhenTheLeaseOfTheBrokenOneHasRunOut,
                inner -> new ForwardingStore(inner) {
                    @Override
                    public CompletionStage<Boolean> breakGrant(String name, long number, boolean now) {
                        return inner.breakGrant(name, number, true);
                    }
                },
                lease);
    }

    @Test
    void namesThatAreFolded() {
        for (UnaryOperator<String> folded : List.<UnaryOperator<String>>of(
                name -> name.toLowerCase(Locale.ROOT),
                String::stripTrailing,
                name -> name.length() < 255 ? name : name.substring(0, 254))) {
            bites(contract -> contract.new Names(), ContractBitesTest::allNames, changingNames(folded));
        }
    }

    private static void allNames(NameCases cases) {
        cases.everyNameIsAnotherLockAndComesBackAsItWasGiven();
        cases.theLongestNamesAreToldApartToTheLastCharacter();
    }

    @Test
    void aListThatIsShuffledOrTakesPrefixesForPatterns() {
        bites(contract -> contract.new Names(), NameCases::theListIsSortedByName, inner -> new ForwardingStore(inner) {
            @Override
            public CompletionStage<List<LockStatus>> list(String prefix) {
                return inner.list(prefix).thenApply(sorted -> {
                    List<LockStatus> list = new ArrayList<>(sorted);
                    Collections.reverse(list);
                    return list;
                });
            }
        });
        bites(
                contract -> contract.new Names(),
                NameCases::aPrefixStandsForItselfWhateverItsCharacters,
                inner -> new ForwardingStore(inner) {
                    @Override
                    public CompletionStage<List<LockStatus>> list(String prefix) {
                        return inner.list(prefix.replaceFirst("[%_].*", ""));
                    }
                });
    }

    @Test
    void aModeThatIsTakenForAnother() {
        bites(
                contract -> contract.new Modes(),
                ModeCases::eachModeIsGrantedOrRefusedAsTheCapabilitiesSay,
                changingClaims(claim -> Claims.mode(claim, Mode.EXCLUSIVE)));
    }

    @Test
    void aStampOfAnotherClockOrOfTheAnswer() {
        bites(
                contract -> contract.new Stamps(),
                StampCases::aGrantIsStampedBetweenTheCallAndTheAnswer,
                changingGrants(grant -> new Grant(
                        grant.id(), grant.name(), grant.mode(), grant.lease(), grant.number(), System.nanoTime())));
    }

    @Test
    void aCloseThatLeavesClaimsHanging() {
        UnaryOperator<Store> fault = inner -> new ForwardingStore(inner) {
            @Override
            public void close() {}
        };
        bites(contract -> contract.new Close(), CloseCases::claimsThatWaitAreEndedByTheClose, fault);
        bites(contract -> contract.new Close(), CloseCases::everyRequestAfterTheCloseFailsAsClosed, fault);
    }

    @Test
    void aStoreThatGrantsToEverybody() {
        // each claim is for a name of its own
        UnaryOperator<Store> fault = changingNames(name -> name + ClaimId.random());
        bites(contract -> contract.new Grants(), GrantCases::aFreeNameIsGrantedAndAHeldOneIsNot, fault);
        bites(
                contract -> contract.new Exclusion(),
                ExclusionCases::threadsOfSeveralClientsExcludeEachOtherAndTokensRiseInTheOrderOfHolding,
                fault);
        bites(contract -> contract.new Holds(), HoldCases::aHeldLockIsNotToBeHadByAnotherClient, fault);
    }

    @Test
    void aStoreThatLeavesAThreadBehind() {
        bites(contract -> contract.new Footprint(), FootprintCases::aClosedClientLeavesNoThreadAndNoOpenFile, inner -> {
            Thread left = new Thread(ContractBitesTest::sleep, "holdfast-left");
            left.setDaemon(true);
            left.start();
            return inner;
        });
    }

    private static void sleep() {
        try {
            Thread.sleep(10_000);
        } catch (InterruptedException ended) {
            Thread.currentThread().interrupt();
        }
    }

    /** Gives up at once what is not granted at once, without telling the store. */
    private static Pending impatient(Asked asked, Answer answer) {
        answer.follow(asked.answer().isDone() ? asked.answer() : CompletableFuture.completedFuture(Optional.empty()));
        return Pending.BRIEFLY;
    }
}
