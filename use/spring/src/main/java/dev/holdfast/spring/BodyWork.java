package dev.holdfast.spring;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscriber;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.Scannable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;
import reactor.core.scheduler.Schedulers;
import reactor.util.context.Context;

/**
 * How much of the body of one subscription runs now, so that the lock is released when all of it has ended. A cancellation
 * stops no code that blocks.
 *
 * <pre>
 *   counted: the sequence until its end or cancellation, its subscription and requests, its tasks on schedulers of
 *            Reactor, and sequences with a lock inside it
 *   0 ──► release
 * </pre>
 *
 * <p>A task belongs to the sequence in whose context it finds this: so does all that the operators of the sequence run.
 * What such a part throws ends the sequence: Reactor reports no error that it calls fatal, such as a missing method. Work on
 * other threads, such as that of a {@code CompletableFuture}, is not counted.
 */
final class BodyWork {
    private static final Class<BodyWork> KEY = BodyWork.class;
    private static final Subscription NONE = Operators.cancelledSubscription();

    static {
        Schedulers.onScheduleHook(KEY.getName(), BodyWork::counted);
    }

    private final AtomicInteger running = new AtomicInteger(1);
    private final AtomicReference<@Nullable Runnable> waiting = new AtomicReference<>();
    private final Runnable release;
    private volatile @Nullable BodyWork outer;
    private volatile @Nullable Source source;
    private volatile @Nullable Consumer<Runnable> coroutine;

    BodyWork(Runnable release) {
        this.release = release;
    }

    /** For the context of the sequence. A sequence inside another one that holds a lock is a part of that until its end. */
    Context in(Context context) {
        BodyWork around = context.getOrDefault(KEY, null);
        if (around != null && around.begin()) {
            outer = around;
        }
        return context.put(KEY, this);
    }

    /** A suspending function has begun; the action runs what it is given at the function's end. */
    void begun(Consumer<Runnable> whenEnded) {
        coroutine = whenEnded;
    }

    /** Subscribes to the method's own publisher. */
    void subscribe(Publisher<Object> own, Subscriber<? super Object> subscriber) {
        Source begun = new Source(Operators.toCoreSubscriber(subscriber));
        source = begun;
        run(() -> own.subscribe(begun));
    }

    /** Runs a part of the body. */
    private void run(Runnable part) {
        boolean counts = begin();
        try {
            part.run();
        } catch (Throwable thrown) {
            Source failed = source;
            if (failed == null || !failed.fail(thrown)) {
                throw thrown;
            }
        } finally {
            if (counts) {
                end();
            }
        }
    }

    /** Another part begins, unless all have ended. */
    private boolean begin() {
        return running.getAndUpdate(parts -> parts == 0 ? 0 : parts + 1) != 0;
    }

    /** Completes when nothing runs but the sequence itself, which waits for it before its own end. */
    <T> Mono<T> idle() {
        return Mono.create(sink -> whenIdle(sink::success));
    }

    /** Fails then; {@code idle().then(Mono.error(failure))} would throw what Reactor calls fatal. */
    <T> Mono<T> failedWhenIdle(Throwable failure) {
        return Mono.create(sink -> whenIdle(() -> sink.error(failure)));
    }

    private void whenIdle(Runnable told) {
        waiting.set(told);
        tellIfIdle();
    }

    /** The sequence has ended, or another part. */
    void end() {
        if (running.decrementAndGet() == 0) {
            release.run();
            BodyWork around = outer;
            if (around != null) {
                around.end();
            }
        } else {
            tellIfIdle();
        }
    }

    /** The sequence was cancelled; a coroutine ends later. */
    void cancel() {
        Consumer<Runnable> begun = coroutine;
        if (begun == null) {
            end();
        } else {
            begun.accept(this::end);
        }
    }

    private void tellIfIdle() {
        if (running.get() == 1) {
            Runnable idle = waiting.getAndSet(null);
            if (idle != null) {
                idle.run();
            }
        }
    }

    /** Between the method's own publisher and its subscriber. */
    private final class Source implements CoreSubscriber<Object>, Subscription {
        private final CoreSubscriber<? super Object> subscriber;
        private final AtomicBoolean ended = new AtomicBoolean();
        private volatile Subscription subscription = NONE;
        private volatile boolean cancelled;

        Source(CoreSubscriber<? super Object> subscriber) {
            this.subscriber = subscriber;
        }

        /** Ends it; false if nobody is told, because it had ended or was cancelled. */
        boolean fail(Throwable thrown) {
            if (cancelled || !ended.compareAndSet(false, true)) {
                return false;
            }
            if (subscription == NONE) {
                Operators.error(subscriber, thrown);
                return true;
            }
            try {
                subscription.cancel();
            } finally {
                subscriber.onError(thrown);
            }
            return true;
        }

        @Override
        public Context currentContext() {
            return subscriber.currentContext();
        }

        @Override
        public void onSubscribe(Subscription own) {
            if (subscription == NONE) {
                subscription = own;
                subscriber.onSubscribe(this);
            } else { // Reactor calls this again before it throws an error out of its subscribe()
                own.cancel();
            }
        }

        @Override
        public void onNext(Object value) {
            subscriber.onNext(value);
        }

        @Override
        public void onError(Throwable failure) {
            if (ended.compareAndSet(false, true)) {
                subscriber.onError(failure);
            } else {
                Operators.onErrorDropped(failure, currentContext());
            }
        }

        @Override
        public void onComplete() {
            if (ended.compareAndSet(false, true)) {
                subscriber.onComplete();
            }
        }

        @Override
        public void request(long number) {
            run(() -> subscription.request(number));
        }

        @Override
        public void cancel() {
            cancelled = true;
            subscription.cancel();
        }
    }

    private static Runnable counted(Runnable task) {
        BodyWork work = of(task);
        return work == null ? task : () -> work.run(task);
    }

    /** Operators schedule themselves, or a subscription that knows its subscriber. */
    private static @Nullable BodyWork of(Runnable task) {
        Object each = task;
        while (!(each instanceof CoreSubscriber<?> subscriber)) {
            if (!(each instanceof Scannable part)) {
                return null;
            }
            each = part.scanUnsafe(Scannable.Attr.ACTUAL);
        }
        return subscriber.currentContext().getOrDefault(KEY, null);
    }
}
