package dev.holdfast.flashsale;

import io.undertow.Handlers;
import io.undertow.Undertow;
import io.undertow.UndertowOptions;
import io.undertow.server.HttpHandler;
import io.undertow.server.HttpServerExchange;
import io.undertow.server.handlers.BlockingHandler;
import io.undertow.server.handlers.PathHandler;
import io.undertow.server.handlers.proxy.LoadBalancingProxyClient;
import io.undertow.server.handlers.proxy.ProxyHandler;
import io.undertow.server.handlers.resource.ClassPathResourceManager;
import io.undertow.server.handlers.sse.ServerSentEventConnection;
import io.undertow.server.handlers.sse.ServerSentEventHandler;
import io.undertow.util.Headers;
import io.undertow.util.HttpString;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import tools.jackson.databind.json.JsonMapper;

/**
 * Passes the sale's requests to one server after the other, and serves the page, its events and its buttons. Listens on
 * loopback alone. However many pages are open, the figures are read once for all.
 */
final class Balancer implements ServerPool, AutoCloseable {
    /** What the servers answer, with all below it; the rest is the page's. */
    static final List<String> SERVED_BY_SERVERS = List.of("/sales", "/accounts", "/lock10", "/openapi", "/swagger-ui");

    private static final String LOOPBACK = "127.0.0.1";
    private static final long TICK = 100; // milliseconds
    private static final int CONNECTIONS = 256;
    private static final int LONGEST_ANSWER = 30_000; // milliseconds
    private static final int RETRY = 1; // seconds, until a server that did not answer is tried again
    private static final long LARGEST_BODY = 65_536;

    /** No other site shows the page inside its own, where its clicks could press the buttons. */
    private static final Map<String, String> NOT_FRAMED =
            Map.of("X-Frame-Options", "DENY", "Content-Security-Policy", "frame-ancestors 'none'");

    private final FlashSale sale;
    private final JsonMapper json = JsonMapper.builder().build();
    private final LoadBalancingProxyClient servers = new LoadBalancingProxyClient()
            .setConnectionsPerThread(CONNECTIONS)
            .setMaxQueueSize(CONNECTIONS)
            .setProblemServerRetry(RETRY);
    private final ServerSentEventHandler events;
    private final ScheduledExecutorService ticker = Executors.newSingleThreadScheduledExecutor(task -> {
        Thread thread = new Thread(task, "figures");
        thread.setDaemon(true);
        return thread;
    });
    private final Undertow server;
    private volatile String figures = "";

    Balancer(FlashSale sale, int port) {
        this.sale = sale;
        events = Handlers.serverSentEvents((connection, lastEvent) -> connection.send(figures));
        ClassLoader loader = Balancer.class.getClassLoader();
        HttpHandler proxy = ProxyHandler.builder()
                .setProxyClient(servers)
                .setMaxRequestTime(LONGEST_ANSWER)
                .build();
        PathHandler routes = Handlers.path(Handlers.resource(new ClassPathResourceManager(loader, "page")))
                .addPrefixPath(
                        "/webjars",
                        Handlers.resource(new ClassPathResourceManager(loader, "META-INF/resources/webjars")))
                .addExactPath("/events", events)
                .addExactPath("/" + GuardCode.SCRIPT, Balancer::sendCodes)
                .addPrefixPath("/control", new BlockingHandler(new Control(sale, json)));
        SERVED_BY_SERVERS.forEach(path -> routes.addPrefixPath(path, keepPath(proxy)));
        server = Undertow.builder()
                .addHttpListener(port, LOOPBACK)
                .setServerOption(UndertowOptions.MAX_ENTITY_SIZE, LARGEST_BODY)
                .setHandler(withHeaders(routes))
                .build();
    }

    private static void sendCodes(HttpServerExchange exchange) {
        exchange.getResponseHeaders().put(Headers.CONTENT_TYPE, "text/javascript; charset=utf-8");
        exchange.getResponseSender().send(GuardCode.script());
    }

    private static HttpHandler withHeaders(HttpHandler next) {
        return exchange -> {
            NOT_FRAMED.forEach((name, value) -> exchange.getResponseHeaders().put(new HttpString(name), value));
            next.handleRequest(exchange);
        };
    }

    /** The path handler takes the prefix away, which the servers want. */
    private static HttpHandler keepPath(HttpHandler next) {
        return exchange -> {
            exchange.setRelativePath(exchange.getRequestPath());
            exchange.setResolvedPath("");
            next.handleRequest(exchange);
        };
    }

    /**
     * Begins to listen.
     *
     * @throws BindException if the port is taken
     */
    void start() throws BindException {
        try {
            server.start();
        } catch (RuntimeException failure) {
            if (failure.getCause() instanceof BindException taken) {
                throw taken;
            }
            throw failure;
        }
    }

    /** Begins to tell the pages how the sale stands. */
    void startEvents() {
        ticker.scheduleWithFixedDelay(this::tick, 0, TICK, TimeUnit.MILLISECONDS);
    }

    private void tick() {
        long since = System.nanoTime();
        String now;
        try {
            now = json.writeValueAsString(sale.figures());
        } catch (RuntimeException away) {
            now = json.writeValueAsString(Map.of("trouble", "The database does not answer: " + away.getMessage()));
        }
        sale.recording().add(since, now);
        if (!now.equals(figures)) {
            figures = now;
            for (ServerSentEventConnection page : events.getConnections()) {
                page.send(now);
            }
        }
    }

    URI address() {
        InetSocketAddress bound =
                (InetSocketAddress) server.getListenerInfo().get(0).getAddress();
        return URI.create("http://" + LOOPBACK + ":" + bound.getPort());
    }

    @Override
    public void add(URI server) {
        servers.addHost(server);
    }

    @Override
    public void remove(URI server) {
        servers.removeHost(server);
    }

    @Override
    public void close() {
        ticker.shutdownNow();
        server.stop();
    }
}
