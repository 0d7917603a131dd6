package dev.holdfast.sim;

import dev.holdfast.LockListener;
import dev.holdfast.LockStatus;
import dev.holdfast.Loss;
import dev.holdfast.internal.Engine;
import dev.holdfast.internal.Engine.Environment;
import dev.holdfast.internal.EngineDoor;
import dev.holdfast.internal.StoreOpening;
import dev.holdfast.spi.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

/** One process on a machine: the real engine, with every seam in the simulation's hands, and its callers. */
final class Client implements World.Owner {
    private static final Duration CLOSE_POLL = Duration.ofMillis(1);
    private static final int CLOSE_POLLS = 5_000;
    private static final long LATEST_MICROS = 50;

    final World world;
    final Machine machine;
    final Setting setting;
    final TimeSource time;
    final Engine engine;
    final RemoteStore store;
    private final Server server;
    private final int number;
    private final List<Caller> callers = new ArrayList<>();
    private boolean alive = true;
    private boolean closing;
    private String breaking = "";
    private int claims;
    private int returnsBeforeWait;
    private long lastTold;

    Client(Machine machine, int number, Server server, Setting setting) {
        this.machine = machine;
        this.world = machine.world;
        this.number = number;
        this.setting = setting;
        this.server = server;
        this.time = machine.clock.as(this);
        this.store = new RemoteStore(world, this, machine.link, server, setting, time);
        Executor telling = task -> {
            lastTold = Math.max(lastTold, world.now() + world.dice.micros(0, LATEST_MICROS));
            world.at(lastTold, this, task);
        };
        Environment seams =
                new Environment(time, this::later, telling, this::await, this::park, () -> Ids.id(number, ++claims));
        this.engine = Engine.open(
                same -> StoreOpening.of(store, same), seams, "", name(), List.of(new Ear()), Duration.ofMinutes(1));
    }

    private final class Ear implements LockListener {
        @Override
        public void onLost(Loss loss) {
            world.judge.toldClient(Client.this, loss);
        }
    }

    String name() {
        return machine.name + "." + number % 1_000;
    }

    @Override
    public long runsAt(long now) {
        return alive ? machine.runsAt(now) : World.NEVER;
    }

    private void await(CompletableFuture<?> future) {
        int before = world.judge.returns();
        world.block(this, future::isDone);
        returnsBeforeWait = before; // last, as others wait on top of this one
    }

    /** How many grants had begun to go back when the caller who has just waited began to. */
    int returnsBeforeWait() {
        return returnsBeforeWait;
    }

    /** As a thread that sleeps; the impatient are interrupted now and then. */
    private void park(Object waiter) {
        if (world.dice.below(2_000) < setting.impatient()) {
            Thread.currentThread().interrupt();
        } else {
            world.pass(this);
        }
    }

    /** Runs a task soon, on some thread of a pool. */
    void later(Runnable task) {
        world.after(world.dice.micros(0, LATEST_MICROS), this, task);
    }

    /** Runs a task after a delay by this machine's clock. */
    void after(long nanos, Runnable task) {
        time.schedule(task, Duration.ofNanos(nanos));
    }

    void note(java.util.function.Supplier<String> what) {
        world.timeline.note(name(), what);
    }

    void begin() {
        note(() -> "starts, its clocks off by " + machine.clock.drift() + " ppm");
        for (int i = 1; i <= setting.callers(); i++) {
            Caller caller = new Caller(this, "c" + i, setting.owners() && i == 1);
            callers.add(caller);
            caller.begin();
        }
    }

    /** The connection broke and is there again: what it holds may be gone. */
    void reconnected() {
        store.reconnected();
        callers.forEach(Caller::inDoubt);
    }

    boolean isAlive() {
        return alive;
    }

    boolean isClosing() {
        return closing;
    }

    void die() {
        alive = false;
    }

    /** Closes the client as {@link Engine#close()} does, waiting between its halves without a thread. */
    void close() {
        if (EngineDoor.beginClose(engine)) {
            world.counts.add(Happening.CLIENT_CLOSED);
            note(() -> "closes its client");
            closing = true;
            awaitQuiet(CLOSE_POLLS);
        }
    }

    private void awaitQuiet(int polls) {
        if (EngineDoor.isQuiet(engine) || polls == 0) {
            EngineDoor.endClose(engine);
        } else {
            time.schedule(() -> awaitQuiet(polls - 1), CLOSE_POLL);
        }
    }

    /** Whether its engine remembers nothing. */
    boolean isQuiet() {
        return EngineDoor.isQuiet(engine);
    }

    /** Breaks a lock on somebody's order, who saw this token. */
    boolean breakLock(String name, long token, boolean now) {
        breaking = name;
        try {
            return engine.inspection().breakGrant(name, token, now);
        } finally {
            breaking = "";
        }
    }

    /** A token of a name that somebody may have seen. */
    Optional<Long> shown(String name) {
        return server.status(name).grant().map(LockStatus.Held::token);
    }

    /** Whether a mutex of its queues is held. */
    boolean holdsMutex() {
        return EngineDoor.holdsMutex(engine);
    }

    /** Whether somebody ordered just this. */
    boolean isBreaking(String name) {
        return breaking.equals(name);
    }
}
