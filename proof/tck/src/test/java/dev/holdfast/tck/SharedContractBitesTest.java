package dev.holdfast.tck;

import static dev.holdfast.tck.Faulty.bites;
import static dev.holdfast.tck.Faulty.changingClaims;
import static dev.holdfast.tck.Faulty.changingModes;
import static dev.holdfast.tck.Faulty.changingNames;

import dev.holdfast.LockMode;
import dev.holdfast.LockStatus;
import dev.holdfast.spi.Answer;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Mode;
import dev.holdfast.spi.Mode.Permits;
import dev.holdfast.spi.Pending;
import dev.holdfast.spi.Renewal;
import dev.holdfast.spi.Store;
import dev.holdfast.spi.support.Asked;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;

/** As {@link ContractBitesTest}, for readers, permits and several names. */
@Timeout(value = 60, threadMode = ThreadMode.SEPARATE_THREAD)
class SharedContractBitesTest {
    @Test
    void readersWhoIgnoreWriters() {
        UnaryOperator<Store> fault = renamed(LockMode.SHARED);
        bites(contract -> contract.new Modes(), ModeCases::readersShareANameAndExcludeTheWriter, fault);
        bites(
                contract -> contract.new ReadWriteLocks(),
                ReadWriteCases::readersOfSeveralClientsShareAndKeepAWriterOut,
                fault);
        bites(contract -> contract.new ReadWriteLocks(), ReadWriteCases::writersAreAloneAndReadersSeeNoneOfThem, fault);
        bites(contract -> contract.new ReadWriteLocks(), ReadWriteCases::theyAreSoInStrictOrderToo, fault);
    }

    @Test
    void aStatusThatTakesAPermit() {
        bites(
                contract -> contract.new Reading(),
                ReadingCases::permitsThatRanOutComeBackThoughAStatusWasReadMeanwhile,
                inner -> new ForwardingStore(inner) {
                    @Override
                    public CompletionStage<LockStatus> status(String name) {
                        Asked.of(inner, Claims.mode(Claims.of(name), new Permits(1, 2)));
                        return inner.status(name);
                    }
                });
    }

    @Test
    void readersWhoKeepOutReaders() {
        UnaryOperator<Store> fault = changingModes(mode -> Mode.EXCLUSIVE);
        bites(
                contract -> contract.new ReadWriteLocks(),
                ReadWriteCases::noReaderComesInBeforeAWriterOfAnotherClientWhoWaits,
                fault);
    }

    @Test
    void readersWhoPassAWriterThatWaits() {
        Map<String, Long> read = new ConcurrentHashMap<>();
        UnaryOperator<Store> fault = inner -> new Barging(inner, read);
        bites(
                contract -> contract.new ReadWriteLocks(),
                ReadWriteCases::noReaderComesInBeforeAWriterOfAnotherClientWhoWaits,
                fault);
        bites(contract -> contract.new Modes(), ModeCases::aWriterThatWaitsIsServedWhenTheReadersAreGone, fault);
    }

    @Test
    void aStoreThatDoesNotTellThatAWriterWaits() {
        bites(
                contract -> contract.new ReadWriteLocks(),
                ReadWriteCases::aStreamOfReadersOfAnotherClientDoesNotStarveAWriter,
                inner -> new ForwardingStore(inner) {
                    @Override
                    public CompletionStage<Map<ClaimId, Renewal>> renew(Collection<Grant> grants) {
                        return inner.renew(grants).thenApply(answers -> {
                            Map<ClaimId, Renewal> alone = new HashMap<>();
                            answers.forEach(
                                    (id, said) -> alone.put(id, new Renewal(said.verdict(), said.sentNanos(), false)));
                            return alone;
                        });
                    }
                });
    }

    @Test
    void aWriterWhoReadsOnInWordsOnlyOrFreesTheLockOrIsForgotten() {
        UnaryOperator<Store> inWords = downgrading((inner, grant) -> CompletableFuture.completedFuture(true));
        bites(
                contract -> contract.new Modes(),
                ModeCases::aWriterThatIsMadeAReaderStandsAsItDidAndReadersComeInWhereTheStoreSaysSo,
                inWords);
        bites(
                contract -> contract.new Downgrades(),
                DowngradeCases::readersOfAnotherClientComeInBesideAWriterWhoReadsOnWhereTheStoreCanDoThat,
                inWords);
        UnaryOperator<Store> freed = downgrading(Store::release);
        bites(
                contract -> contract.new Downgrades(),
                DowngradeCases::aWriterWhoReadsOnKeepsItsTokenAndItsLeaseAndKeepsWritersOut,
                freed);
        bites(
                contract -> contract.new Modes(),
                ModeCases::readersWhoWaitComeInWhenAWriterIsMadeAReaderUpToTheNextWriter,
                freed);
    }

    @Test
    void permitsThatAreNotCounted() {
        UnaryOperator<Store> each =
                changingModes(mode -> mode instanceof Permits some ? new Permits(some.permits(), 99) : mode);
        bites(contract -> contract.new Semaphores(), SemaphoreCases::severalPermitsAreHadTogetherOrNotAtAll, each);
        bites(contract -> contract.new Semaphores(), SemaphoreCases::noPermitIsGivenBackTwice, each);
        bites(
                contract -> contract.new Semaphores(),
                SemaphoreCases::clientsThatDisagreeAboutHowManyThereAreEachKeepTheirOwnNumber,
                each);
        bites(
                contract -> contract.new Semaphores(),
                SemaphoreCases::neverAreMorePermitsOutThanThereAreAndAllComeBack,
                each);
        UnaryOperator<Store> asOne =
                changingModes(mode -> mode instanceof Permits some ? new Permits(1, some.of()) : mode);
        bites(contract -> contract.new Semaphores(), SemaphoreCases::severalPermitsAreHadTogetherOrNotAtAll, asOne);
    }

    @Test
    @Tag("thorough")
    void permitsThatStayOut() {
        UnaryOperator<Store> fault = inner -> new ForwardingStore(inner) {
            @Override
            public CompletionStage<Boolean> release(Grant grant) {
                return CompletableFuture.completedFuture(true);
            }
        };
        bites(
                contract -> contract.new Semaphores(),
                SemaphoreCases::neverAreMorePermitsOutThanThereAreAndAllComeBack,
                fault);
        bites(contract -> contract.new Semaphores(), SemaphoreCases::permitsThatComeBackTogetherServeAllWhoFit, fault);
    }

    @Test
    void permitsOfTheDeadThatStayOut() {
        bites(
                contract -> contract.new Semaphores(),
                SemaphoreCases::thePermitsOfADeadClientComeBack,
                changingClaims(claim -> Claims.lease(claim, Claims.LONG)));
        bites(
                contract -> contract.new ReadWriteLocks(),
                ReadWriteCases::aDeadReaderKeepsAWriterOutNoLongerThanItsLease,
                changingClaims(claim -> Claims.lease(claim, Claims.LONG)));
    }

    @Test
    void aReleaseThatFreesAllWhoShare() {
        UnaryOperator<Store> fault = inner -> new ForwardingStore(inner) {
            @Override
            public CompletionStage<Boolean> release(Grant grant) {
                return ContractBitesTest.breakAll(inner, grant.name());
            }
        };
        bites(
                contract -> contract.new ReadWriteLocks(),
                ReadWriteCases::readersOfSeveralClientsShareAndKeepAWriterOut,
                fault);
        bites(contract -> contract.new Semaphores(), SemaphoreCases::severalPermitsAreHadTogetherOrNotAtAll, fault);
    }

    @Test
    @Tag("thorough")
    void namesThatAreNotHeldTogether() {
        UnaryOperator<Store> everybody = changingNames(name -> name + ClaimId.random());
        bites(contract -> contract.new MultiLocks(), MultiLockCases::noneIsHeldWhereOneIsTaken, everybody);
        bites(
                contract -> contract.new MultiLocks(),
                MultiLockCases::thoseThatCrossEachOtherExcludeEachOtherNameByNameAndNeverDeadlock,
                everybody);
        UnaryOperator<Store> kept = inner -> new ForwardingStore(inner) {
            @Override
            public CompletionStage<Boolean> release(Grant grant) {
                return CompletableFuture.completedFuture(true);
            }
        };
        bites(contract -> contract.new MultiLocks(), MultiLockCases::noneIsHeldWhereOneIsTaken, kept);
        bites(contract -> contract.new MultiLocks(), MultiLockCases::allIsUndoneWhenTheTimeHasPassed, kept);
        bites(contract -> contract.new MultiLocks(), MultiLockCases::allIsUndoneWhenItIsInterrupted, kept);
    }

    @Test
    @Tag("thorough")
    void aLossThatIsNotFound() {
        UnaryOperator<Store> fault = inner -> new ForwardingStore(inner) {
            @Override
            public CompletionStage<Map<ClaimId, Renewal>> renew(Collection<Grant> grants) {
                Map<ClaimId, Renewal> answers = new HashMap<>();
                grants.forEach(grant -> answers.put(grant.id(), Renewal.held(System.nanoTime(), false)));
                return CompletableFuture.completedFuture(answers);
            }
        };
        Duration lease = Duration.ofSeconds(5); // a hold whose renewals a busy machine delays is lost as well
        bites(contract -> contract.new MultiLocks(), MultiLockCases::oneLostIsAllLostAndToldOnce, fault, lease);
        bites(
                contract -> contract.new ReadWriteLocks(),
                ReadWriteCases::aBrokenLockIsLostToReadersOfAllClients,
                fault,
                lease);
        bites(
                contract -> contract.new Semaphores(),
                SemaphoreCases::aPermitThatWasLostIsNotGivenBackAgain,
                fault,
                lease);
    }

    /** Claims of one kind are for a name of their own. */
    private static UnaryOperator<Store> renamed(LockMode kind) {
        return changingClaims(claim -> claim.mode().kind() != kind
                ? claim
                : new Claim(
                        claim.id(),
                        claim.name() + "-" + kind,
                        claim.mode(),
                        claim.lease(),
                        claim.waits(),
                        claim.floor(),
                        claim.holder()));
    }

    /** What a store makes of a downgrade. */
    private interface Downgrade {
        CompletionStage<Boolean> of(Store inner, Grant grant);
    }

    private static UnaryOperator<Store> downgrading(Downgrade fault) {
        return inner -> new ForwardingStore(inner) {
            @Override
            public CompletionStage<Boolean> downgrade(Grant grant) {
                return fault.of(inner, grant);
            }
        };
    }

    /** Lets a reader in wherever another reads, whoever waits. */
    private static final class Barging extends ForwardingStore {
        private final Map<String, Long> read;

        Barging(Store inner, Map<String, Long> read) {
            super(inner);
            this.read = read;
        }

        @Override
        public Pending claim(Claim claim, Answer answer) {
            Long number = read.get(claim.name());
            if (!claim.mode().equals(Mode.SHARED) || number == null) {
                Asked asked = Asked.of(inner, claim);
                answer.follow(asked.answer().thenApply(given -> {
                    given.filter(grant -> grant.mode().equals(Mode.SHARED))
                            .ifPresent(grant -> read.put(grant.name(), grant.number()));
                    return given;
                }));
                return asked;
            }
            answer.granted(Grant.of(claim, number + 1, System.nanoTime()));
            return Pending.BRIEFLY;
        }
    }
}
