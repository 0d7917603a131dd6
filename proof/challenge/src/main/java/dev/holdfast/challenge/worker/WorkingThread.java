package dev.holdfast.challenge.worker;

import dev.holdfast.challenge.history.Stage;
import dev.holdfast.challenge.history.Turn;
import dev.holdfast.challenge.history.Turn.Outcome;
import dev.holdfast.challenge.history.TurnFile;
import dev.holdfast.challenge.lock.AttackedLock;
import dev.holdfast.challenge.lock.AttackedLock.Grip;
import dev.holdfast.challenge.lock.AttackedLock.Result;
import dev.holdfast.challenge.lock.LockKind;
import dev.holdfast.challenge.lock.LockKind.Place;
import dev.holdfast.challenge.workload.Workload;
import dev.holdfast.spi.Mode;
import dev.holdfast.tck.History.Ending;
import dev.holdfast.testbed.Stalls;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;

/** A thread that takes its turns at one lock, and writes down what it sees. */
final class WorkingThread extends Thread {
    private static final Duration LOOK = Duration.ofMillis(1);
    private static final Duration LOOK_WHEN_PINNED = Duration.ofMillis(5);
    private static final int TRIES = 5;
    private static final Duration BETWEEN_TRIES = Duration.ofSeconds(1);
    private static final Duration SHORTEST_PAUSE = Duration.ofMillis(5);

    private final int number;
    private final int worker;
    private final Stage stage;
    private final Stage.Lane lane;
    private final LockKind kind;
    private final Workload workload;
    private final Place place;
    private final TurnFile file;
    private final Stalls stalls;
    private final Random random;
    private final long longestPause;
    private volatile boolean ended;

    WorkingThread(
            int number,
            int worker,
            Stage stage,
            LockKind kind,
            Workload workload,
            Place place,
            TurnFile file,
            Stalls stalls,
            long seed,
            Duration longestPause) {
        // The same in every process: some locks take the name of a thread for who it is.
        super(Worker.THREAD + number);
        setDaemon(true);
        this.number = number;
        this.worker = worker;
        this.stage = stage;
        this.lane = stage.lane(number);
        this.kind = kind;
        this.workload = workload;
        this.place = place;
        this.file = file;
        this.stalls = stalls;
        this.random = new Random(seed);
        this.longestPause = longestPause.toNanos();
    }

    /** Ends after this turn, or in the middle of a wait. */
    void end() {
        ended = true;
        interrupt();
    }

    /** Interrupts it where it waits for the lock. */
    void interruptWait() {
        Turn turn = file.lastTurn();
        if (turn != null && turn.isAsking()) {
            interrupt();
        }
    }

    @Override
    public void run() {
        try (AttackedLock lock = open()) {
            Worker.say("opened " + number);
            while (!ended && !file.isFull()) {
                // One for each turn: how long others bar this worker must not change its next choices.
                long between = SHORTEST_PAUSE.toNanos() + random.nextLong(longestPause);
                do {
                    pause(between);
                } while (!ended && !stage.mayBegin(worker, lane));
                if (!ended) {
                    takeTurn(lock);
                }
            }
        } catch (Throwable failed) {
            Worker.say("failed " + number + " " + failed);
        }
    }

    /** Nothing is done to the store yet, but the machine may do other work. */
    private AttackedLock open() throws Exception {
        for (int i = 1; ; i++) {
            try {
                return kind.opening().open(place);
            } catch (Exception failed) {
                if (i == TRIES) {
                    throw failed;
                }
                pause(BETWEEN_TRIES.toNanos());
            }
        }
    }

    private void takeTurn(AttackedLock lock) {
        // Both for each turn, got or not: how others fare must not change its next choices.
        Mode mode = workload.mode(random);
        double share = random.nextDouble();
        long asked = System.nanoTime();
        long lateBefore = stalls.late();
        file.ask(asked);
        Ending ending = Ending.UNKNOWN;
        try {
            Result result = lock.turn(mode, grip -> hold(mode, share, grip));
            while (result == Result.BUSY && !ended && stage.mayBegin(worker, lane)) {
                pause(SHORTEST_PAUSE.toNanos());
                file.askAgain(System.nanoTime());
                result = lock.turn(mode, grip -> hold(mode, share, grip));
            }
            if (result == Result.RECORDED) {
                file.wrote(0, Outcome.ACCEPTED);
            }
            ending = result == Result.LOST || result == Result.RECORDED ? Ending.LOST : Ending.CLOSED;
        } catch (Exception | Error failed) {
            if (ended) {
                return; // in the middle of a call, which the end of the heat broke off
            }
            // The store is gone, or the connection: whether it was released is not known.
        }
        long stall = Math.max(stalls.longestSince(asked), stalls.late() - lateBefore);
        file.left(ending, stall, System.nanoTime());
    }

    /**
     * Holds the lock.
     *
     * @param share for how much of the longest hold
     */
    private void hold(Mode mode, double share, Grip grip) {
        file.begin(mode, grip.token(), grip.period(), System.nanoTime());
        workload.enter(lane, grip, file);
        long until = System.nanoTime()
                + (long) (share * workload.longestHold(stage.isAnyonePinned()).toNanos());
        boolean stays;
        do {
            stays = stage.isPinned(worker);
            long looked = System.nanoTime();
            if (grip.isValid()) {
                file.valid(looked);
            }
            if (stays) {
                lane.arrived(true);
            }
            pause((stays ? LOOK_WHEN_PINNED : LOOK).toNanos());
        } while ((stays || System.nanoTime() - until < 0) && !ended);
        workload.leave(lane, grip, file, ((long) worker << Integer.SIZE) + file.count());
        file.leave(System.nanoTime());
    }

    private static void pause(long nanos) {
        boolean unused = Thread.interrupted(); // meant for a wait, which was over before
        LockSupport.parkNanos(nanos);
    }
}
