package dev.holdfast.redis;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Mode;
import io.lettuce.core.cluster.SlotHash;
import io.lettuce.core.protocol.CommandType;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One script to be run on the server, and what hears of its answer, once. Each sending of it is a {@link SentCommand} of its
 * own.
 */
final class ScriptCall {
    /** A place in the queue that no claim has. */
    static final String NO_PLACE = "-";

    @SuppressWarnings("StaticAssignmentOfThrowable") // it keeps neither a stack nor what is suppressed
    private static final TakenBack TAKEN_BACK = new TakenBack();

    private static final byte[] ONE = {'1'};
    /** How often what hears is told again that throws: Errors, such as of memory, often come in a row. */
    private static final int TRIES = 2;
    /** For all calls, so that they have an order wherever they are. */
    private static final AtomicLong NUMBERS = new AtomicLong();

    /** What a call does to its lock, as far as two of them may be made one. */
    private enum Kind {
        CLAIM,
        RELEASE,
        RENEWAL,
        RECORD,
        OTHER
    }

    /**
     * How a command ends that was taken back. There may be very many at once, and one for all is made before: an Error of
     * memory would leave the rest of them to Lettuce, which repeats them.
     */
    static final class TakenBack extends RuntimeException {
        private static final long serialVersionUID = 1L;

        private TakenBack() {
            super("the connection ended, or the call was given up", null, false, false);
        }
    }

    /**
     * What the script said.
     *
     * @param sentNanos the client's time before it was sent
     * @param twice whether an earlier copy was sent that may have been carried out, or may still arrive
     */
    record Answer(String text, long sentNanos, boolean twice) {}

    private final Script script;
    private final Kind kind;
    private final @Nullable String name;
    /** The state of each lock, or the key of a record. */
    private final List<byte[]> keys;

    private final List<String> args;
    /** What hears of its end; null once it has ended. */
    private final AtomicReference<@Nullable BiConsumer<@Nullable Answer, @Nullable Throwable>> hears =
            new AtomicReference<>((said, failure) -> {});

    private long number = NUMBERS.incrementAndGet();
    private long sentNanos;
    private volatile long askedNanos;
    private long firstConnection;
    /** 0: any. */
    private volatile long validOn;

    private boolean sent;
    private boolean askedFor;
    private boolean asking;
    /** Whether the other keys of each lock are named as well. */
    private boolean inCluster;

    private boolean narrow;
    private int redirections;
    private volatile @Nullable SentCommand command;

    private ScriptCall(Script script, Kind kind, @Nullable String name, List<byte[]> keys, List<String> args) {
        this.script = script;
        this.kind = kind;
        this.name = name;
        this.keys = keys;
        this.args = args;
    }

    /**
     * A claim.
     *
     * @param exclusive whether it may be made one with the release before it
     * @param mayBeFirst whether it may find the lock free with nobody in the queue
     */
    static ScriptCall claim(String name, boolean exclusive, boolean mayBeFirst, List<String> args) {
        Script script = mayBeFirst ? Script.CLAIM : Script.CLAIM_FULLY;
        return about(script, exclusive ? Kind.CLAIM : Kind.OTHER, name, args);
    }

    static ScriptCall release(String name, ClaimId id, Mode mode) {
        return mode instanceof Mode.Exclusive
                ? about(Script.RELEASE, Kind.RELEASE, name, List.of(exclusively(id)))
                : of(Script.RELEASE, name, List.of(exclusively(id), ModeCodec.kind(mode), ModeCodec.wanted(mode)));
    }

    /**
     * A release after which the claim is refused should it come once more.
     *
     * @param place what it has in the queue, or {@link #NO_PLACE}
     */
    static ScriptCall withdrawal(String name, ClaimId id, Mode mode, String place) {
        return of(Script.RELEASE, name, List.of(exclusively(id), ModeCodec.kind(mode), ModeCodec.wanted(mode), place));
    }

    /** The kind of an exclusive grant and its claim, as they are next to each other in the state of a lock. */
    private static String exclusively(ClaimId id) {
        return "X " + id.value();
    }

    static ScriptCall of(Script script, String name, List<String> args) {
        return about(script, Kind.OTHER, name, args);
    }

    private static ScriptCall about(Script script, Kind kind, String name, List<String> args) {
        return new ScriptCall(script, kind, name, List.of(LockKeys.state(name)), args);
    }

    /** A script about the record of a name. */
    static ScriptCall record(Script script, String name, List<String> args) {
        return new ScriptCall(script, Kind.RECORD, name, List.of(LockKeys.record(name)), args);
    }

    /** A script about no lock, but about the server as a member of a quorum. */
    static ScriptCall member(List<String> args) {
        return new ScriptCall(Script.QUORUM_MEMBER, Kind.OTHER, null, List.of(), args);
    }

    /** The renewal of many locks. */
    static ScriptCall renewal(List<byte[]> states, List<String> args) {
        return new ScriptCall(Script.RENEW, Kind.RENEWAL, null, states, args);
    }

    /** Names what hears of its end, and is told again if it throws, at last that there is no answer. Before it is sent. */
    void tell(BiConsumer<@Nullable Answer, @Nullable Throwable> whoHears) {
        hears.set(whoHears);
    }

    private void end(@Nullable Answer said, @Nullable Throwable failure) {
        BiConsumer<@Nullable Answer, @Nullable Throwable> one = hears.getAndSet(null);
        Answer answer = said;
        Throwable why = failure;
        for (int tries = 0; one != null && tries <= TRIES; tries++) {
            try {
                one.accept(answer, why);
                return;
            } catch (Throwable broken) { // no matter of the connection; but nobody else tells what came of the call
                if (tries == TRIES - 1 && answer != null) {
                    answer = null; // which nobody can read: it counts as none
                    why = broken;
                }
            }
        }
    }

    /** Greater than that of each call that was made before. */
    long number() {
        return number;
    }

    /** The one lock it is about; null for a batch. */
    @Nullable
    String name() {
        return name;
    }

    /** Whether it is the claim of a lock, in any mode. */
    boolean isClaim() {
        return script == Script.CLAIM || script == Script.CLAIM_FULLY;
    }

    /** Whether it ends a grant, of any mode, or withdraws a claim. */
    boolean isRelease() {
        return script == Script.RELEASE || script == Script.EXCHANGE;
    }

    boolean isExclusiveRelease() {
        return kind == Kind.RELEASE;
    }

    boolean isExclusiveClaim() {
        return kind == Kind.CLAIM;
    }

    /** Whether it may be sent once more when nobody knows what came of it. */
    boolean mayRepeat() {
        return kind != Kind.RENEWAL;
    }

    /**
     * This release and the claim that follows it, in one step; both get their answers.
     *
     * @param alone sends the claim by itself if it is refused, since the release is not
     */
    ScriptCall with(ScriptCall claim, Consumer<ScriptCall> alone) {
        List<String> both = new ArrayList<>(args.size() + claim.args.size());
        both.addAll(claim.args);
        both.addAll(args);
        ScriptCall exchange = new ScriptCall(Script.EXCHANGE, Kind.OTHER, name, claim.keys, both);
        exchange.number = number;
        exchange.inCluster = claim.inCluster;
        exchange.asked(claim.askedNanos);
        exchange.tell((said, failure) -> {
            if (said == null) {
                end(null, failure);
                claim.end(null, failure);
                return;
            }
            end(new Answer(said.text().substring(0, 1), said.sentNanos(), said.twice()), null);
            String claimed = said.text().substring(1);
            if (claimed.equals("?")) {
                alone.accept(claim);
            } else {
                claim.end(new Answer(claimed, said.sentNanos(), said.twice()), null);
            }
        });
        return exchange;
    }

    /**
     * The command to send now.
     *
     * @param inFull with the script's whole text, which the server does not know
     * @param ended hears of the end of this sending
     */
    SentCommand command(
            long nowNanos,
            long onConnection,
            boolean inFull,
            BiConsumer<byte @Nullable [], @Nullable Throwable> ended) {
        CommandType type = inFull ? CommandType.EVAL : CommandType.EVALSHA;
        List<byte[]> named = inCluster && !narrow ? LockKeys.allOf(keys) : keys;
        List<byte[]> words = new ArrayList<>(3 + named.size() + args.size());
        words.add(type.getBytes());
        words.add((inFull ? script.body() : script.digest()).getBytes(UTF_8));
        words.add(named.size() == 1 ? ONE : Integer.toString(named.size()).getBytes(UTF_8));
        words.addAll(named);
        for (String arg : args) {
            words.add(arg.getBytes(UTF_8));
        }
        SentCommand made = new SentCommand(type, words, ended);
        sentNanos = nowNanos;
        if (!sent) {
            firstConnection = onConnection;
            sent = true;
        }
        command = made;
        return made;
    }

    /** What it is answered on another connection than this counts as no answer. */
    void validOn(long connection) {
        validOn = connection;
    }

    void answered(byte[] text, long onConnection) {
        if (validOn != 0 && validOn != onConnection) {
            fail(new StoreUnavailableException("the connection broke before the answer came"));
            return;
        }
        end(new Answer(new String(text, UTF_8), sentNanos, onConnection != firstConnection), null);
    }

    /** Ends it without an answer; it will not be sent any more, nor sent again. */
    void fail(RuntimeException why) {
        end(null, why);
        cancelCommand();
    }

    /** It ended without an answer and may have been carried out, so the next answer counts as {@link Answer#twice}. */
    void unanswered() {
        firstConnection = 0;
    }

    /** The same by what was thrown on its way, as it is where another Error keeps its meaning from being said. */
    void fail(Throwable thrown, RedisErrors errors) {
        Throwable why = thrown;
        try {
            why = errors.of(thrown);
        } catch (Throwable another) { // Errors often come in a row
            // nobody else ends the call
        }
        end(null, why);
        cancelCommand();
    }

    /** Lettuce forgets it, so that it can be sent again from here. */
    void cancelCommand() {
        SentCommand sent = command;
        if (sent != null) {
            sent.completeExceptionally(TAKEN_BACK);
        }
    }

    /** Whether its command may still be answered. */
    boolean isUnderWay() {
        SentCommand sent = command;
        return sent != null && !sent.isDone();
    }

    /** Whether this answer promises something that replicas should have: a grant, a record, the end of a grant. */
    boolean isGrant(byte[] text) {
        return switch (script) {
            case CLAIM, CLAIM_FULLY -> text[0] != '-';
            case EXCHANGE -> Character.isDigit(text[1]);
            case WRITE_RECORD -> text[0] != '-';
            case BREAK -> text[0] == '1';
            case RENEW -> !new String(text, UTF_8).chars().allMatch(letter -> letter == 'L');
            default -> false;
        };
    }

    /** Whether its answer may promise something that replicas should have. */
    boolean mayGrant() {
        return switch (script) {
            case CLAIM, CLAIM_FULLY, EXCHANGE, RENEW, WRITE_RECORD, BREAK -> true;
            default -> false;
        };
    }

    /** Whether it keeps its order with others of that kind, and must be asked of the server that grants: all but reading. */
    boolean isAboutGrants() {
        return script != Script.STATUS;
    }

    // ---- in a cluster ----

    /** The number of the slot of its keys. */
    int slot() {
        return SlotHash.getSlot(keys.get(0));
    }

    /** Names all keys that it may need: a cluster has to know them. */
    void inCluster() {
        inCluster = kind != Kind.RECORD;
    }

    /**
     * Names only the key of the state from now on; false if it does already, or needs the others. While a slot moves, a
     * node refuses a script when it has some of its keys and not all, as it nearly always is: most locks have one key.
     */
    boolean narrow() {
        boolean becomes = !narrow
                && script == Script.RENEW
                && keys.size() == 1
                && args.get(0).contains(" X ");
        narrow |= becomes;
        return becomes;
    }

    /** The server that was asked has not run it. */
    void notRun(long onConnection) {
        redirections++;
        asking = false;
        if (firstConnection == onConnection) {
            sent = false;
        }
    }

    /** How often a server has not run it. */
    int redirections() {
        return redirections;
    }

    /** The next server is not the slot's owner yet, and is to be told that this is known. */
    void asking() {
        asking = true;
    }

    boolean isAsking() {
        return asking;
    }

    boolean isDone() {
        return hears.get() == null;
    }

    /** Whether it was sent before, perhaps on an earlier connection. */
    boolean wasSent() {
        return sent;
    }

    /** When it was asked for, and first of all when: it may wait for a connection, and be sent again. */
    void asked(long nowNanos) {
        if (!askedFor) {
            askedFor = true;
            askedNanos = nowNanos;
        }
    }

    long askedNanos() {
        return askedNanos;
    }
}
