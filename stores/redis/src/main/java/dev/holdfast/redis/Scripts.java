package dev.holdfast.redis;

import dev.holdfast.LockStatus;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.Answer;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Mode;
import dev.holdfast.spi.Renewal;
import dev.holdfast.spi.TimeSource;
import dev.holdfast.spi.support.RenewalChunks;
import dev.holdfast.spi.support.UnknownEnd;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/** The requests of a store as calls of its scripts, and their answers read. Thread-safe. */
final class Scripts {
    /** Of every grant number from the year 2001 on. */
    private static final int DIGITS = 16;

    private static final Place NO_PLACE = new Place("", "0", Duration.ZERO, false);

    private final ScriptSender sender;
    private final RedisErrors errors;
    private final ResentClaims sentTwice;
    private volatile boolean closed;

    Scripts(ScriptSender sender, RedisErrors errors, TimeSource time) {
        this.sender = sender;
        this.errors = errors;
        this.sentTwice = new ResentClaims(time);
    }

    RedisErrors errors() {
        return errors;
    }

    boolean isClosed() {
        return closed;
    }

    /** From now on only failures are to be expected. */
    void closing() {
        closed = true;
    }

    /** Claims without waiting. */
    void attempt(Claim claim, Answer answer) {
        claim(claim, NO_PLACE, (said, failure) -> {
            if (said == null) {
                answer.failed(Objects.requireNonNull(failure));
            } else if (said.grant().isPresent()) {
                answer.granted(said.grant().get());
            } else {
                answer.refused();
            }
        });
    }

    /**
     * What a claim that waits says of itself.
     *
     * @param channel where offers are heard; empty not to wait
     * @param at the place it has already, or 0
     * @param poll how often the first in the queue polls
     * @param hears whether offers are heard already
     */
    record Place(String channel, String at, Duration poll, boolean hears) {}

    /**
     * Claims, and takes a place in the queue if the lock is not free.
     *
     * @param told the answer, or the failure; on the event loop, or on the thread on which the call has failed
     */
    void claim(Claim claim, Place place, BiConsumer<@Nullable ClaimAnswer, @Nullable Throwable> told) {
        boolean exclusive = claim.mode() instanceof Mode.Exclusive;
        boolean mayBeFirst = exclusive && place.at().equals("0");
        ScriptCall call = ScriptCall.claim(claim.name(), exclusive, mayBeFirst, words(claim, place));
        call.tell((said, failure) -> {
            ClaimAnswer answer = null;
            Throwable why = failure;
            try {
                if (said == null) {
                    noAnswer(claim, failure);
                } else {
                    answer = answered(claim, said);
                }
            } catch (Throwable broken) { // an Error, or a reply that nobody can read
                why = broken;
            }
            told.accept(answer, why);
        });
        sender.send(call);
    }

    /** The words of a claim, as lock.lua reads them. */
    static List<String> words(Claim claim, Place place) {
        Mode mode = claim.mode();
        String rest = sixteenDigits(claim.floor())
                + ' '
                + ModeCodec.kind(mode)
                + ' '
                + place.channel()
                + ' '
                + place.at()
                + ' '
                + place.poll().toMillis()
                + (place.hears() ? " 1 " : " 0 ")
                + ModeCodec.wanted(mode)
                + ' '
                + ModeCodec.of(mode);
        return List.of(state(claim.id(), claim), Long.toString(millis(claim.lease())), rest);
    }

    /** What a free lock holds once it is granted, as state.lua says, but for the number. */
    static String state(ClaimId id, Claim claim) {
        return "1 X " + id.value() + " = " + HolderText.write(claim.holder()) + " ";
    }

    private void noAnswer(Claim claim, @Nullable Throwable failure) {
        if (failure instanceof StoreUnavailableException) {
            sentTwice.add(claim.id(), claim.lease()); // the one without an answer, and the next
        }
    }

    private ClaimAnswer answered(Claim claim, ScriptCall.Answer said) {
        boolean granted = said.text().charAt(0) != '-';
        if (said.twice() && (granted || claim.waits())) {
            sentTwice.add(claim.id(), claim.lease());
        } else {
            sentTwice.keep(claim.id(), claim.lease());
        }
        if (!granted) {
            return ClaimAnswer.notYet(said.text());
        }
        return ClaimAnswer.granted(Grant.of(claim, Long.parseLong(said.text()), said.sentNanos()));
    }

    /**
     * Gives a grant back; whether it was still there. One that was sent twice may have been carried out the first time,
     * and others may have had the lock since: that is no loss.
     *
     * @param mayComeAgain whether a copy of its claim may still be on its way, which is to be refused
     * @param gone what to do if it was not there any more
     */
    CompletableFuture<Boolean> release(Grant grant, boolean mayComeAgain, Runnable gone) {
        Mode mode = grant.mode();
        ScriptCall release = mayComeAgain
                ? ScriptCall.withdrawal(grant.name(), grant.id(), mode, ScriptCall.NO_PLACE)
                : ScriptCall.release(grant.name(), grant.id(), mode);
        return sender.ask(release).thenApply(said -> {
            boolean held = said.text().equals("1");
            if (!held) {
                gone.run();
            }
            return held || said.twice();
        });
    }

    /** Makes a writer a reader; whether it is one now. */
    CompletableFuture<Boolean> downgrade(Grant grant) {
        List<String> args = List.of(grant.id().value(), Long.toString(grant.number()));
        return sender.ask(ScriptCall.of(Script.DOWNGRADE, grant.name(), args))
                .thenApply(said -> said.text().equals("1"));
    }

    /** Has the server tell on a channel when a claim comes to wait for a grant. */
    CompletableFuture<Watched> watch(Grant grant, String channel) {
        List<String> args = List.of(grant.id().value(), Long.toString(grant.number()), channel);
        return sender.ask(ScriptCall.of(Script.WATCH, grant.name(), args)).thenApply(said -> switch (said.text()) {
            case "1" -> Watched.CONTENDED;
            case "0" -> Watched.ALONE;
            default -> Watched.GONE;
        });
    }

    /** What the server says of a grant that it is asked to watch. */
    enum Watched {
        /** A claim waits for it already. */
        CONTENDED,
        /** Nobody waits for it yet. */
        ALONE,
        /** It has ended. */
        GONE
    }

    /** Whether a copy of this claim may still be on its way; forgets it. */
    boolean wasSentTwice(ClaimId id) {
        return sentTwice.remove(id);
    }

    /** Gives up a claim's place in the queue, and its grant or offer if it has one. */
    CompletableFuture<Void> leave(String name, ClaimId id, Mode mode, String channel) {
        sentTwice.remove(id);
        String member = ModeCodec.kind(mode) + ":" + ModeCodec.wanted(mode) + ":" + ModeCodec.of(mode) + ":"
                + id.value() + ":" + channel;
        return sender.ask(ScriptCall.withdrawal(name, id, mode, member)).thenAccept(said -> {});
    }

    CompletableFuture<LockStatus> status(String name) {
        return statusReply(name).thenApply(said -> said.status(name));
    }

    /** The status as the server says it. */
    CompletableFuture<StatusReply> statusReply(String name) {
        return sender.ask(ScriptCall.of(Script.STATUS, name, List.of()))
                .thenApply(said -> StatusReply.parse(said.text()));
    }

    /**
     * Breaks the grant of a number; false if it has ended. One that was sent twice may have ended it the first time, and
     * then the answer to the second says nothing.
     */
    CompletableFuture<Boolean> breakGrant(String name, long number, boolean now) {
        return sender.ask(ScriptCall.of(Script.BREAK, name, List.of(Long.toString(number), now ? "1" : "0")))
                .thenApply(said -> {
                    boolean broken = said.text().equals("1");
                    if (!broken && said.twice()) {
                        throw UnknownEnd.of(name, errors.store(), "broken");
                    }
                    return broken;
                });
    }

    /** Renews chunk by chunk, all sent at once. What of a chunk without an answer is unknown. */
    CompletableFuture<Map<ClaimId, Renewal>> renew(Collection<Grant> grants) {
        return RenewalChunks.renew(grants, sender.renewedTogether(), this::renewChunk);
    }

    private CompletableFuture<Map<ClaimId, Renewal>> renewChunk(List<Grant> grants) {
        List<byte[]> states = new ArrayList<>(grants.size());
        List<String> args = new ArrayList<>(grants.size());
        for (Grant grant : grants) {
            states.add(LockKeys.state(grant.name()));
            args.add(grant.id().value()
                    + ' '
                    + ModeCodec.kind(grant.mode())
                    + ' '
                    + ModeCodec.wanted(grant.mode())
                    + ' '
                    + millis(grant.lease())
                    + ' '
                    + grant.number());
        }
        return sender.ask(ScriptCall.renewal(states, args)).thenApply(said -> {
            Map<ClaimId, Renewal> verdicts = new HashMap<>();
            for (int i = 0; i < grants.size(); i++) {
                Grant grant = grants.get(i);
                char letter = said.text().charAt(i);
                if (letter != 'L') {
                    sentTwice.keep(grant.id(), grant.lease());
                }
                verdicts.put(
                        grant.id(),
                        letter == 'L' ? Renewal.lost(said.sentNanos()) : Renewal.held(said.sentNanos(), letter == 'C'));
            }
            return verdicts;
        });
    }

    /** A number as the scripts compare it, as text. */
    static String sixteenDigits(long number) {
        String digits = Long.toString(number);
        return digits.length() < DIGITS ? "0".repeat(DIGITS - digits.length()) + digits : digits;
    }

    static long millis(Duration lease) {
        return lease.plusNanos(999_999).toMillis();
    }
}
