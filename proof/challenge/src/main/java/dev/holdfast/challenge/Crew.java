package dev.holdfast.challenge;

import dev.holdfast.challenge.history.Stage;
import dev.holdfast.challenge.store.Target;
import dev.holdfast.challenge.worker.Worker;
import dev.holdfast.testbed.ChildJvm;
import dev.holdfast.testbed.ChildProcess;
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
    private final Deque<ChildProcess> spares = new ArrayDeque<>();
    private int numbers;

    /** A process and its place in the crew. */
    static final class Member {
        final int number;
        final ChildProcess process;
        final Optional<TcpProxy> proxy;
        final String url;

        Member(int number, ChildProcess process, Optional<TcpProxy> proxy, String url) {
            this.number = number;
            this.process = process;
            this.proxy = proxy;
            this.url = url;
        }
    }

    final Stage stage;

    Crew(Target target, boolean proxied, Path stageFile) {
        this.target = target;
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
        killed.process.close();
        spares.add(start());
        Member next = member(killed.proxy);
        members.set(members.indexOf(killed), next);
        return next;
    }

    private ChildProcess start() {
        return ChildJvm.main(Worker.class)
                .flags("-Xmx256m", "-Xss512k", "-XX:+UseSerialGC", "-Dslf4j.internal.verbosity=ERROR")
                .flags("--enable-native-access=ALL-UNNAMED")
                .args(stageFile.toString())
                .start();
    }

    /** A spare that has proven that its clock is the one of this process. */
    private Member member(Optional<TcpProxy> proxy) {
        ChildProcess process = spares.remove();
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
        return new Member(++numbers, process, proxy, url);
    }

    @Override
    public void close() {
        members.forEach(member -> member.process.close());
        spares.forEach(ChildProcess::close);
        members.forEach(member -> member.proxy.ifPresent(TcpProxy::close));
    }
}
