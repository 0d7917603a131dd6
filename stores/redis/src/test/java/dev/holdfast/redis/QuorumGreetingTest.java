package dev.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.ClientClosedException;
import dev.holdfast.spi.TimeSource;
import dev.holdfast.testbed.TcpProxy;
import io.lettuce.core.RedisClient;
import io.lettuce.core.resource.ClientResources;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * A member's connection breaks in the middle of what one thread does, so that it is greeted on another one meanwhile.
 */
class QuorumGreetingTest extends QuorumCase {
    /** A thread for each connection: a thread held in the middle of a greeting blocks no other. */
    private static final int IO_THREADS = 16;

    @Test
    void whatAMemberGrantsAfterARestartBeforeItsGreetingDoesNotCount() {
        open().close();
        Rig.until(
                "it to know its process",
                () -> !ask(servers.get(0), "GET", "holdfast:quorum").endsWith(" -"));
        ask(servers.get(0), "SAVE"); // its file has no lock
        servers.get(2).process().kill();
        QuorumStore holder = open();
        hold(holder, Rig.claim(NAME, LONG));
        holder.close();
        servers.get(2).process().restart();
        QuorumServers.setUp(servers.get(2)); // it never had the lock
        List<TcpProxy> wires = wires();
        Meanwhile meanwhile = new Meanwhile(ScriptPipeline.class, "send");
        QuorumMembers members = connected(wires, meanwhile);
        QuorumStore rival = opened(new QuorumStore(members, Set.of(), () -> {}));
        QuorumMember first = members.all().get(0);

        meanwhile.happens(
                () -> { // the first member was ready, and the claim is on its way to it
                    wires.get(0).refuse();
                    servers.get(0).process().restart();
                    Rig.until("that to be noticed", () -> !first.isReady());
                },
                () -> { // the claim waits for the next connection, and goes to the second member
                    wires.get(0).heal();
                    Rig.until("the first member to grant it", () -> hasHolder(servers.get(0)));
                    Rig.until("it to be greeted after that", first::isReady);
                });

        assertThat(attempt(rival, NAME))
                .as("the lock that the second member keeps")
                .isEmpty();
        assertThat(meanwhile.isOver()).isTrue();
    }

    @Test
    void aGreetingThatEndsLateDoesNotUndoThatOfTheNextConnection() {
        List<TcpProxy> wires = wires();
        Meanwhile meanwhile = new Meanwhile(QuorumMember.class, "greetAgain");
        QuorumMembers members = connected(wires, meanwhile);
        QuorumMember first = members.all().get(0);
        wires.get(1).toClient().hold();
        ask(servers.get(0), "SET", "holdfast:quorum", "1 1000 0 anotherProcess");
        wires.get(0).cut();
        wires.get(1).toClient().awaitBite(Rig.TIMEOUT); // its greeting asks for the longest lease

        meanwhile.happens(
                () -> { // too few know that
                    QuorumServers.setUp(servers.get(0));
                    wires.get(0).cut();
                    Rig.until("it to be greeted on the next connection", first::isReady);
                });
        wires.get(1).cut();

        Rig.until("the late greeting to end", meanwhile::isOver);
        assertThat(first.isReady()).isTrue();
    }

    private QuorumMembers connected(List<TcpProxy> wires, TimeSource with) {
        ClientResources resources =
                ClientResources.builder().ioThreadPoolSize(IO_THREADS).build();
        this.<AutoCloseable>opened(
                () -> resources.shutdown(0, 2, TimeUnit.SECONDS).await());
        RedisClient client = RedisClient.create(resources);
        this.<AutoCloseable>opened(() -> client.shutdown(0, 2, TimeUnit.SECONDS));
        RedisUrl url = RedisUrl.parse(through(wires), Optional.empty());
        QuorumMembers members = new QuorumMembers(
                client,
                url,
                new Settings(with, url.timeout(), PendingClaims.POLL, 0),
                new RedisErrors(url.description()));
        this.<AutoCloseable>opened(members::close);
        this.<AutoCloseable>opened(() -> members.close(new ClientClosedException("the test is over")));
        members.connect();
        Rig.until("all to be ready", () -> members.all().stream().allMatch(QuorumMember::isReady));
        return members;
    }

    /**
     * A time that runs an event when one method asks it: an event that may happen there while its thread has to wait.
     */
    private final class Meanwhile implements TimeSource {
        private final String place;
        private final String method;
        private final Queue<Runnable> events = new ConcurrentLinkedQueue<>();
        private volatile Thread kept;

        Meanwhile(Class<?> in, String method) {
            this.place = in.getName();
            this.method = method;
        }

        /** One at a time: each when the method asks next. */
        void happens(Runnable... next) {
            events.addAll(List.of(next));
        }

        /** Whether all have happened, and the held thread has left that class. */
        boolean isOver() {
            Thread last = kept;
            return events.isEmpty()
                    && last != null
                    && Stream.of(last.getStackTrace()).noneMatch(this::isThere);
        }

        private boolean isThere(StackTraceElement frame) {
            return frame.getClassName().startsWith(place);
        }

        private void happen() {
            boolean asks = Stream.of(new Throwable().getStackTrace())
                    .anyMatch(frame -> isThere(frame) && frame.getMethodName().equals(method));
            Runnable event = asks ? events.poll() : null;
            if (event != null) {
                event.run();
                kept = Thread.currentThread();
            }
        }

        @Override
        public long nanoTime() {
            happen();
            return time.nanoTime();
        }

        @Override
        public long wallMillis() {
            return time.wallMillis();
        }

        @Override
        public Scheduled schedule(Runnable task, Duration delay) {
            happen();
            return time.schedule(task, delay);
        }
    }
}
