package dev.holdfast.bench.run;

import com.sun.management.OperatingSystemMXBean;
import dev.holdfast.bench.peer.Peer;
import dev.holdfast.bench.peer.Peers;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.stream.Collectors;

/**
 * The main class of a worker process: reads {@link Orders}, an {@link Errand} or a {@link TurnTaker}, says {@code @ready}, is told when to
 * begin, and answers with a {@link Tally} or with what went wrong. It keeps its clients from round to round, as an
 * application would.
 */
public final class Worker {
    static final String READY = "@ready";
    static final String RESULT = "@result ";
    static final String FAILED = "@failed ";
    private static final Path WRITTEN = Path.of("/proc/self/io");
    private static final String WRITTEN_LINE = "wchar: ";

    private final BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    private final Map<String, List<Peer>> clients = new HashMap<>();

    private Worker() {}

    /** Runs until its standard input ends. */
    public static void main(String[] args) {
        try {
            new Worker().serve();
            System.exit(0);
        } catch (Throwable e) {
            // Whatever it was, the round cannot be used, and the parent must hear of it.
            e.printStackTrace();
            System.out.println(FAILED + String.valueOf(e).replace('\n', ' '));
            System.exit(1);
        }
    }

    private void serve() throws Throwable {
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            if (line.startsWith(TurnTaker.COMMAND)) {
                TurnTaker.parse(line).run();
            }
            String answer = line.startsWith(Errand.COMMAND)
                    ? numbers(Errand.parse(line).run())
                    : round(Orders.parse(line)).toLine();
            System.out.println(RESULT + answer);
        }
    }

    private static String numbers(List<Double> numbers) {
        return numbers.stream().map(String::valueOf).collect(Collectors.joining(" "));
    }

    private Tally round(Orders orders) throws Throwable {
        SharedPage page = new SharedPage(Path.of(orders.page()));
        List<Peer> peers = connect(orders);
        CompletableFuture<Long> start = new CompletableFuture<>();
        List<Contender> contenders = new ArrayList<>();
        List<CompletableFuture<Void>> opened = new ArrayList<>();
        List<CompletableFuture<Void>> ended = new ArrayList<>();
        for (int client = 0; client < peers.size(); client++) {
            for (int i = 0; i < orders.threads(); i++) {
                Contender contender = new Contender(orders, page, peers.get(client), client, i);
                CompletableFuture<Void> open = new CompletableFuture<>();
                CompletableFuture<Void> end = new CompletableFuture<>();
                contenders.add(contender);
                opened.add(open);
                ended.add(end);
                Thread thread = new Thread(() -> take(contender, open, start, end, orders.nanos()), "contender-" + i);
                thread.setDaemon(true);
                thread.start();
            }
        }
        await(opened);
        System.out.println(READY);
        start.complete(Long.parseLong(Objects.requireNonNull(input.readLine(), "told to begin")));
        long cpu = cpuNanos();
        long compiling = compilingMillis();
        long written = written();
        await(ended);
        return contenders.stream()
                .map(Contender::tally)
                .reduce(Tally.empty(), Tally::plus)
                .with(Count.CPU_NANOS, orders.isToKeep() ? 0 : cpuNanos() - cpu)
                .with(Count.COMPILING_MILLIS, compilingMillis() - compiling)
                .with(Count.WRITTEN, written() - written);
    }

    private List<Peer> connect(Orders orders) throws Exception {
        String key = orders.url() + " " + orders.clients();
        List<Peer> peers = clients.get(key);
        if (peers == null) {
            peers = new ArrayList<>();
            for (int i = 0; i < orders.clients(); i++) {
                peers.add(Peers.of(orders.peer(), orders.store()).connect(orders.url(), orders.clients()));
            }
            clients.put(key, peers);
        }
        return peers;
    }

    private static void take(
            Contender contender,
            CompletableFuture<Void> opened,
            CompletableFuture<Long> start,
            CompletableFuture<Void> ended,
            long nanos) {
        try {
            contender.open();
            opened.complete(null);
            long from = start.join();
            contender.run(from, from + nanos);
            ended.complete(null);
        } catch (Throwable e) {
            opened.completeExceptionally(e);
            ended.completeExceptionally(e);
        }
    }

    /** Awaits them all, or the first that fails: the others may then wait for a lock that nobody gives back. */
    private static void await(List<CompletableFuture<Void>> parts) throws Throwable {
        CompletableFuture<Void> failed = new CompletableFuture<>();
        for (CompletableFuture<Void> part : parts) {
            part.whenComplete((nothing, failure) -> {
                if (failure != null) {
                    failed.completeExceptionally(failure);
                }
            });
        }
        try {
            CompletableFuture.anyOf(failed, CompletableFuture.allOf(parts.toArray(CompletableFuture[]::new)))
                    .get();
        } catch (ExecutionException e) {
            throw Objects.requireNonNullElse(e.getCause(), e);
        }
    }

    static long cpuNanos() {
        return ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
    }

    /** What the threads that compile have taken so far. */
    private static long compilingMillis() {
        return ManagementFactory.getCompilationMXBean().getTotalCompilationTime();
    }

    /** What this process has given the system to write so far; 0 where the system does not tell. */
    static long written() throws IOException {
        if (!Files.isReadable(WRITTEN)) {
            return 0;
        }
        return Files.readAllLines(WRITTEN).stream()
                .filter(line -> line.startsWith(WRITTEN_LINE))
                .mapToLong(line -> Long.parseLong(line.substring(WRITTEN_LINE.length())))
                .findFirst()
                .orElse(0);
    }
}
