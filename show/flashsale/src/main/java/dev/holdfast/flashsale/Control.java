package dev.holdfast.flashsale;

import io.undertow.server.HttpHandler;
import io.undertow.server.HttpServerExchange;
import io.undertow.util.Headers;
import io.undertow.util.Methods;
import java.net.InetAddress;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/**
 * The buttons of the page. They answer on loopback alone, and to this page alone: another site that is open in the same
 * browser gets 403.
 */
final class Control implements HttpHandler {
    private static final String SCENES = "/scenes/";
    private static final Pattern NODE = Pattern.compile("/nodes/(\\d{1,3})/(pause|kill-next|kill|start)");
    private static final Pattern LOOPBACK_HOST = Pattern.compile("(127\\.0\\.0\\.1|localhost|\\[::1])(:\\d+)?");

    private final FlashSale sale;
    private final JsonMapper json;

    Control(FlashSale sale, JsonMapper json) {
        this.sale = sale;
        this.json = json;
    }

    /** What opens a sale. */
    record Opening(
            @Nullable String guard,
            @Nullable Integer stock,
            @Nullable Integer gapMillis) {}

    /** Who comes. */
    record Crowd(@Nullable Integer count, @Nullable Integer quantity) {}

    /** What guards the couple's account. */
    record Pair(@Nullable String guard, @Nullable Integer gapMillis) {}

    @Override
    public void handleRequest(HttpServerExchange exchange) throws InterruptedException {
        if (!isFromHere(exchange)) {
            answer(exchange, 403, Map.of("status", 403, "detail", "The buttons answer only on loopback."));
            return;
        }
        String path = exchange.getRelativePath();
        try {
            if (exchange.getRequestMethod().equals(Methods.GET) && path.equals("/figures")) {
                answer(exchange, 200, sale.figures());
            } else if (exchange.getRequestMethod().equals(Methods.GET) && path.equals("/export")) {
                exchange.getResponseHeaders()
                        .put(Headers.CONTENT_TYPE, "text/html; charset=utf-8")
                        .put(Headers.CONTENT_DISPOSITION, "attachment; filename=flash-sale.html");
                exchange.getResponseSender().send(StaticPage.of(sale.recording().json()));
            } else if (exchange.getRequestMethod().equals(Methods.POST) && path.startsWith(SCENES)) {
                Staging body = required(json.readValue(exchange.getInputStream(), Staging.class), "the body");
                answer(exchange, 200, sale.scenes().play(path.substring(SCENES.length()), required(body.way(), "way")));
            } else if (exchange.getRequestMethod().equals(Methods.POST) && press(path, exchange)) {
                answer(exchange, 200, sale.figures());
            } else {
                answer(
                        exchange,
                        404,
                        Map.of("status", 404, "detail", "There is nothing at " + exchange.getRequestPath()));
            }
        } catch (JacksonException noJson) {
            answer(exchange, 400, Map.of("status", 400, "detail", "The body is not the JSON that is expected."));
        } catch (Refused refused) {
            answer(exchange, 400, Map.of("status", 400, "detail", String.valueOf(refused.getMessage())));
        } catch (RuntimeException failed) {
            answer(exchange, 503, Map.of("status", 503, "detail", String.valueOf(failed.getMessage())));
        }
    }

    /** What a link says. */
    record Asked(
            @Nullable String guard,
            @Nullable Integer stock,
            @Nullable Integer gapMillis,
            @Nullable Integer buyers,
            @Nullable Integer withinMillis,
            @Nullable String fault,
            @Nullable Integer seed) {
        Run run() {
            return new Run(
                    required(guard, "guard"),
                    required(stock, "stock"),
                    required(gapMillis, "gapMillis"),
                    required(buyers, "buyers"),
                    required(withinMillis, "withinMillis"),
                    required(fault, "fault"),
                    required(seed, "seed"));
        }
    }

    /** How a scene is to be played. */
    record Staging(@Nullable String way) {}

    private boolean press(String path, HttpServerExchange exchange) throws InterruptedException {
        Matcher node = NODE.matcher(path);
        if (path.equals("/sale")) {
            Opening body = required(json.readValue(exchange.getInputStream(), Opening.class), "the body");
            sale.open(
                    required(body.guard(), "guard"),
                    required(body.stock(), "stock"),
                    required(body.gapMillis(), "gapMillis"));
        } else if (path.equals("/buyers")) {
            Crowd body = required(json.readValue(exchange.getInputStream(), Crowd.class), "the body");
            sale.send(required(body.count(), "count"), body.quantity() == null ? 1 : body.quantity());
        } else if (path.equals("/run")) {
            sale.run(required(json.readValue(exchange.getInputStream(), Asked.class), "the body")
                    .run());
        } else if (path.equals("/store/cut")) {
            sale.cut();
        } else if (path.equals("/lock/expire")) {
            sale.expire();
        } else if (path.equals("/couple")) {
            Pair body = required(json.readValue(exchange.getInputStream(), Pair.class), "the body");
            sale.withdraw(required(body.guard(), "guard"), required(body.gapMillis(), "gapMillis"));
        } else if (node.matches()) {
            int number = Integer.parseInt(node.group(1));
            switch (node.group(2)) {
                case "pause" -> sale.servers().pause(number);
                case "kill-next" -> sale.servers().killInNextOrder(number);
                case "kill" -> sale.servers().kill(number);
                default -> sale.servers().restart(number);
            }
        } else {
            return false;
        }
        return true;
    }

    private static <T> T required(@Nullable T value, String name) {
        if (value == null) {
            throw new Refused(name + " is missing", null);
        }
        return value;
    }

    private static boolean isFromHere(HttpServerExchange exchange) {
        InetAddress source = exchange.getSourceAddress().getAddress();
        String host = exchange.getRequestHeaders().getFirst(Headers.HOST);
        String origin = exchange.getRequestHeaders().getFirst(Headers.ORIGIN);
        return source != null
                && source.isLoopbackAddress()
                && host != null
                && LOOPBACK_HOST.matcher(host).matches()
                && (origin == null || origin.equals("http://" + host));
    }

    private void answer(HttpServerExchange exchange, int status, Object body) {
        exchange.setStatusCode(status);
        exchange.getResponseHeaders()
                .put(Headers.CONTENT_TYPE, status < 400 ? "application/json" : "application/problem+json");
        exchange.getResponseSender().send(json.writeValueAsString(body));
    }
}
