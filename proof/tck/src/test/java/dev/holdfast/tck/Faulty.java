package dev.holdfast.tck;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.memory.MemoryStore;
import dev.holdfast.spi.Answer;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Mode;
import dev.holdfast.spi.Pending;
import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreContext;
import dev.holdfast.spi.support.Asked;
import java.time.Duration;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.awaitility.core.ConditionTimeoutException;

/** A sound store with one fault, which the case meant for it must find. */
final class Faulty extends StoreContract {
    private final MemoryStore memory = new MemoryStore();
    private final UnaryOperator<Store> fault;
    private final Duration lease;

    private Faulty(UnaryOperator<Store> fault, Duration lease) {
        this.fault = fault;
        this.lease = lease;
    }

    /** A case of some suite. */
    @FunctionalInterface
    interface Case<C> {
        void run(C cases) throws Exception;
    }

    /** Runs a case against a store with a fault: the case must fail. */
    static <C extends Cases> void bites(Function<StoreContract, C> suite, Case<C> meant, UnaryOperator<Store> fault) {
        bites(suite, meant, fault, Duration.ofMillis(150));
    }

    /** The same, with a lease so long that a busy machine is in time to see something during it. */
    static <C extends Cases> void bites(
            Function<StoreContract, C> suite, Case<C> meant, UnaryOperator<Store> fault, Duration lease) {
        assertThatThrownBy(() -> run(suite.apply(new Faulty(fault, lease)), meant))
                .isInstanceOfAny(AssertionError.class, ConditionTimeoutException.class);
    }

    private static <C extends Cases> void run(C cases, Case<C> meant) throws Exception {
        try {
            meant.run(cases);
        } finally {
            cases.closeEverything();
        }
    }

    @Override
    protected Store open(StoreContext context) {
        return fault.apply(memory.open(context.time()));
    }

    @Override
    protected Duration lease() {
        return lease;
    }

    @Override
    protected Duration patience() {
        return Duration.ofSeconds(1);
    }

    /** Always: some races are rare. */
    @Override
    protected int rounds() {
        return 100;
    }

    /** Claims that reach the store as others. */
    static UnaryOperator<Store> changingClaims(UnaryOperator<Claim> change) {
        return changing(change, Faulty::toldOn);
    }

    /** Claims whose mode reaches the store as another, without their client's noticing. */
    static UnaryOperator<Store> changingModes(UnaryOperator<Mode> change) {
        return inner -> new ForwardingStore(inner) {
            @Override
            public Pending claim(Claim claim, Answer answer) {
                Mode mode = change.apply(claim.mode());
                return changed(
                        Asked.of(inner, Claims.mode(claim, mode)),
                        answer,
                        grant -> new Grant(
                                grant.id(),
                                grant.name(),
                                claim.mode(),
                                grant.lease(),
                                grant.number(),
                                grant.sentNanos()));
            }
        };
    }

    /** Claims whose name reaches the store as another. */
    static UnaryOperator<Store> changingNames(UnaryOperator<String> change) {
        return changingClaims(claim -> new Claim(
                claim.id(),
                change.apply(claim.name()),
                claim.mode(),
                claim.lease(),
                claim.waits(),
                claim.floor(),
                claim.holder()));
    }

    /** Grants that come back as others. */
    static UnaryOperator<Store> changingGrants(UnaryOperator<Grant> change) {
        return changing(claim -> claim, (asked, answer) -> changed(asked, answer, change));
    }

    /** Claims that reach the store as others, and answers that are told otherwise. */
    static UnaryOperator<Store> changing(UnaryOperator<Claim> claims, BiFunction<Asked, Answer, Pending> told) {
        return inner -> new ForwardingStore(inner) {
            @Override
            public Pending claim(Claim claim, Answer answer) {
                return told.apply(Asked.of(inner, claims.apply(claim)), answer);
            }
        };
    }

    private static Pending changed(Asked asked, Answer answer, UnaryOperator<Grant> change) {
        answer.follow(asked.answer().thenApply(grant -> grant.map(change)));
        return asked;
    }

    private static Pending toldOn(Asked asked, Answer answer) {
        answer.follow(asked.answer());
        return asked;
    }

    /** Does not hear a cancel. */
    static Pending deaf(Asked asked, Answer answer) {
        answer.follow(asked.answer());
        return Pending.BRIEFLY;
    }
}
