package dev.holdfast.challenge;

import dev.holdfast.challenge.history.Stage;
import dev.holdfast.challenge.store.Target;
import dev.holdfast.challenge.worker.Worker;
import dev.holdfast.testbed.ChildJvm;
import dev.holdfast.testbed.ChildProcess;
import dev.holdfast.testbed.ServerClock;
import dev.holdfast.testbed.TcpProxy;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;

/**
 * The worker processes of one store, each behind a proxy of its own where there is a network. One more is kept ready, to
 * take the place of one that is killed.
 */
final class Crew implements AutoCloseable {
    /** How many work at a time. */
    static final int SIZE = 3;

    /** How long anything that must come may take, on a machine that does other work too. */
    static final Duration PATIENCE = Duration.ofMinutes(2);

    private final Target target;
    private final Path stageFile;
    private final List<Member> members = new ArrayList<>();
    private final Deque<Spare> spares = new ArrayDeque<>();
    private final boolean hasClocks;
    private int numbers;

    /** A process and its place in the crew. */
    static final class Member {
        final int number;
        final ChildProcess process;
        final Optional<TcpProxy> proxy;
        final String url;
        final Optional<ServerClock> clock;

        Member(int number, ChildProcess process, Optional<TcpProxy> proxy, String url, Optional<ServerClock> clock) {
            this.number = number;
            this.process = process;
            this.proxy = proxy;
            this.url = url;
            this.clock = clock;
        }
    }

    /** A process that has no place yet, and its wall clock, where that can be set. */
    private record Spare(ChildProcess process, Optional<ServerClock> clock) {
        void close() {
            process.close();
            clock.ifPresent(ServerClock::close);
        }
    }

    final Stage stage;

    Crew(Target target, boolean proxied, Path stageFile, boolean hasClocks) {
        this.target = target;
        this.hasClocks = hasClocks;
        this.stageFile = stageFile;
        this.stage = new Stage(stageFile);
        for (int i = 0; i <= SIZE; i++) {
            spares.add(start());
        }
        for (int i = 0; i < SIZE; i++) {
            Optional<TcpProxy> proxy =
                    proxied ? Optional.of(TcpProxy.to(target.port().orElseThrow())) : Optional.empty();
            members.add(member(proxy));
        }
    }

    /** Those at work. */
    List<Member> members() {
        return List.copyOf(members);
    }

    /** Kills one; another takes its place, which has opened no lock yet. */
    Member replace(Member killed) {
        killed.process.kill();
        close(killed);
        spares.add(start());
        Member next = member(killed.proxy);
        members.set(members.indexOf(killed), next);
        return next;
    }

    private Spare start() {
        Optional<ServerClock> clock = hasClocks ? Optional.of(ServerClock.create()) : Optional.empty();
        ChildJvm worker = ChildJvm.main(Worker.class)
                .flags("-Xmx256m", "-Xss512k", "-XX:+UseSerialGC", "-Dslf4j.internal.verbosity=ERROR")
                .flags("--enable-native-access=ALL-UNNAMED")
                .args(stageFile.toString());
        clock.ifPresent(each -> each.environment().forEach(worker::environment));
        return new Spare(worker.start(), clock);
    }

    /** A spare that has proven that its clock is the one of this process. */
    private Member member(Optional<TcpProxy> proxy) {
        Spare spare = spares.remove();
        ChildProcess process = spare.process();
        long before = System.nanoTime();
        process.send("clock");
        String answer = process.expect("clock ", PATIENCE);
        long there = Long.parseLong(answer.substring("clock ".length()));
        long after = System.nanoTime();
        if (there - before < 0 || after - there < 0) {
            throw new IllegalStateException("the processes of this machine do not share one monotonic clock: " + there
                    + " was read between " + before + " and " + after);
        }
        String url = proxy.map(each -> target.urlThrough(each.port())).orElse(target.url());
        return new Member(++numbers, process, proxy, url, spare.clock());
    }

    private static void close(Member member) {
        member.process.close();
        member.clock.ifPresent(ServerClock::close);
    }

    @Override
    public void close() {
        members.forEach(Crew::close);
        spares.forEach(Spare::close);
        members.forEach(member -> member.proxy.ifPresent(TcpProxy::close));
    }
}
