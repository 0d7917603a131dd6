package dev.holdfast.flashsale;

import dev.holdfast.flashsale.scene.Part;
import dev.holdfast.flashsale.scene.Span;
import java.net.http.HttpClient;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.locks.ReentrantLock;
import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.json.JsonMapper;

/** Other problems that locks solve, played by the servers and drawn by the page; one at a time. Thread-safe. */
final class Scenes {
    private static final Duration LONGEST = Duration.ofSeconds(30);
    private static final int OK = 200;
    private static final long EMPTY = -1;

    private final Servers servers;
    private final HttpClient http = HttpClient.newHttpClient();
    private final JsonMapper json = JsonMapper.builder().build();
    private final ReentrantLock stage = new ReentrantLock();

    /**
     * Who plays.
     *
     * @param first how many begin at once
     * @param then how many come when all of those are done
     */
    private record Cast(List<String> ways, int first, int then) {}

    private static final Map<String, Cast> CASTS = Map.of(
            "hot-key", new Cast(List.of("plain", "single-flight"), 12, 0),
            "price", new Cast(List.of("plain", "read-write"), 2, 1),
            "report", new Cast(List.of("plain", "lock", "once"), 2, 2),
            "house", new Cast(List.of("plain", "house", "rooms"), 8, 0));

    Scenes(Servers servers) {
        this.servers = servers;
    }

    /**
     * What happened.
     *
     * @param spans what each actor did; times are milliseconds since the first of them
     * @param held whether it went as it should
     * @param count what the page says of it: the loads, the reports, the visits beside a painter; of the price, what the
     *     cache says in the end, or -1 if it is empty
     * @param millis how long it took
     */
    record Played(String scene, String way, List<Span> spans, boolean held, long count, long millis) {}

    /** Plays a scene in one of its ways. */
    Played play(String scene, String way) throws InterruptedException {
        Cast cast = CASTS.get(scene);
        if (cast == null || !cast.ways().contains(way)) {
            throw new Refused("there is no scene '" + scene + "' with the way '" + way + "'", null);
        }
        Refused.unless(stage.tryLock(), "a scene is being played");
        try {
            String run = UUID.randomUUID().toString();
            List<Span> spans = new ArrayList<>(playAll(scene, way, run, 0, cast.first()));
            spans.addAll(playAll(scene, way, run, cast.first(), cast.then()));
            return played(scene, way, spans);
        } finally {
            stage.unlock();
        }
    }

    private List<Span> playAll(String scene, String way, String run, int from, int count) throws InterruptedException {
        List<Integer> up = servers.figures().stream()
                .filter(server -> server.state().equals("UP"))
                .map(Servers.Figures::number)
                .toList();
        Refused.unless(!up.isEmpty(), "no server is up");
        List<CompletableFuture<HttpResponse<String>>> answers = new ArrayList<>();
        for (int actor = from; actor < from + count; actor++) {
            Part part = new Part(run, way, up.get(actor % up.size()), actor);
            answers.add(http.sendAsync(
                    servers.request(part.server(), "/scenes/" + scene)
                            .timeout(LONGEST)
                            .header("Content-Type", "application/json")
                            .POST(BodyPublishers.ofString(json.writeValueAsString(part)))
                            .build(),
                    BodyHandlers.ofString()));
        }
        List<Span> spans = new ArrayList<>();
        for (CompletableFuture<HttpResponse<String>> answer : answers) {
            spans.addAll(read(answer));
        }
        return spans;
    }

    private List<Span> read(CompletableFuture<HttpResponse<String>> answer) {
        try {
            HttpResponse<String> said = answer.join();
            Refused.unless(said.statusCode() == OK, "a server answers " + said.statusCode());
            return Objects.requireNonNull(json.readValue(said.body(), new TypeReference<List<Span>>() {}));
        } catch (CompletionException failure) {
            throw new Refused("a server does not answer", failure);
        }
    }

    private static Played played(String scene, String way, List<Span> spans) {
        long began = spans.stream().mapToLong(Span::from).min().orElse(0);
        long ended = spans.stream().mapToLong(Span::to).max().orElse(0);
        List<Span> fromZero = spans.stream()
                .map(span -> new Span(span.lane(), span.kind(), span.from() - began, span.to() - began, span.value()))
                .sorted(Comparator.comparingLong(Span::from).thenComparingLong(Span::to))
                .toList();
        long count = switch (scene) {
            case "hot-key" -> ofKind(fromZero, "load").size();
            case "report" -> ofKind(fromZero, "report").size();
            case "house" -> visitsBesideAPainter(fromZero);
            default -> value(fromZero, "cache");
        };
        boolean held = switch (scene) {
            case "house" -> count == 0;
            case "price" -> count == EMPTY || count == value(fromZero, "database"); // an empty cache says nothing wrong
            default -> count == 1;
        };
        return new Played(scene, way, fromZero, held, count, ended - began);
    }

    private static List<Span> ofKind(List<Span> spans, String kind) {
        return spans.stream().filter(span -> span.kind().equals(kind)).toList();
    }

    private static long value(List<Span> spans, String kind) {
        String value = ofKind(spans, kind).get(0).value();
        return value.equals(Span.NOTHING) ? EMPTY : Long.parseLong(value);
    }

    /** Ends and beginnings in the same millisecond are not together. */
    private static long visitsBesideAPainter(List<Span> spans) {
        List<Span> painted = ofKind(spans, "paint");
        return ofKind(spans, "visit").stream()
                .filter(visit -> painted.stream()
                        .anyMatch(paint -> paint.lane().equals(visit.lane())
                                && paint.from() < visit.to()
                                && visit.from() < paint.to()))
                .count();
    }
}
