package dev.holdfast.spring.cost;

import dev.holdfast.DistributedLock;
import dev.holdfast.Hold;
import dev.holdfast.LockClient;
import dev.holdfast.spring.HoldLock;
import dev.holdfast.spring.LockAnnotationsAutoConfiguration;
import dev.holdfast.spring.boot.HoldfastAutoConfiguration;
import dev.holdfast.testbed.ChildJvm;
import dev.holdfast.testbed.ChildProcess;
import dev.holdfast.testbed.OrSkip;
import dev.holdfast.testbed.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** What the starter costs on this machine. {@code ./dev starter-cost} runs it; no other run does. */
@Timeout(3600)
class StarterCost {
    private static final int STARTS = Integer.getInteger("cost.starts", 15);
    private static final int ROUNDS = Integer.getInteger("cost.rounds", 15);
    private static final int CALLS = Integer.getInteger("cost.calls", 300_000);

    private static final String WITHOUT = "--spring.autoconfigure.exclude="
            + "dev.holdfast.spring.boot.HoldfastAutoConfiguration,"
            + "dev.holdfast.spring.boot.HoldfastActuatorAutoConfiguration,"
            + "dev.holdfast.spring.boot.HoldfastMetricsAutoConfiguration,"
            + "dev.holdfast.spring.LockAnnotationsAutoConfiguration,"
            + "dev.holdfast.spring.integration.LockRegistryAutoConfiguration";

    /** One round starts each application once, so that a busy moment of the machine meets all of them. */
    @Test
    void startAndMemory() {
        try (RedisServer redis = OrSkip.orSkip(RedisServer::start)) {
            String itsOwn = "--spring.data.redis.url=" + redis.uri();
            String connected = "--cost.redis=true";
            Map<String, List<String>> applications = new TreeMap<>(Map.of(
                    "1 no Redis, without the starter",
                    List.of(WITHOUT),
                    "2 no Redis, holdfast.store=mem:",
                    List.of("--holdfast.store=mem:"),
                    "3 no Redis, holdfast.store=redis://…",
                    List.of("--holdfast.store=" + redis.uri()),
                    "4 with Redis, without the starter",
                    List.of(WITHOUT, itsOwn, connected),
                    "5 with Redis, locks on its client",
                    List.of("--holdfast.use=redis", itsOwn, connected),
                    "6 with Redis, holdfast.store=redis://…",
                    List.of("--holdfast.store=" + redis.uri(), itsOwn, connected)));
            Map<String, List<Long>> times = new TreeMap<>();
            Map<String, List<Long>> memory = new TreeMap<>();
            for (int i = 0; i < STARTS; i++) {
                applications.forEach((name, arguments) -> {
                    long[] cost = start(arguments);
                    times.computeIfAbsent(name, first -> new ArrayList<>()).add(cost[0]);
                    memory.computeIfAbsent(name, first -> new ArrayList<>()).add(cost[1]);
                });
            }
            System.out.printf("%nmedians of %d starts%n", STARTS);
            applications
                    .keySet()
                    .forEach(name -> System.out.printf(
                            "%-40s start %6.0f ms, in use after it %6.1f MB%n",
                            name, median(times.get(name)) / 1e6, median(memory.get(name)) / 1e6));
        }
    }

    private static long[] start(List<String> arguments) {
        try (ChildProcess application = ChildJvm.main(CostApplication.class)
                .args("--spring.main.banner-mode=off")
                .args(arguments.toArray(String[]::new))
                .start()) {
            String[] cost = application.expect("cost ", Duration.ofMinutes(2)).split(" ");
            return new long[] {Long.parseLong(cost[1]), Long.parseLong(cost[2])};
        }
    }

    /** In turns, so that each meets the same machine. The store is memory: what is left is the annotation. */
    @Test
    void annotatedCall() {
        new ApplicationContextRunner()
                .withConfiguration(
                        AutoConfigurations.of(HoldfastAutoConfiguration.class, LockAnnotationsAutoConfiguration.class))
                .withBean(Orders.class)
                .withPropertyValues("holdfast.store=mem:")
                .run(context -> {
                    Orders orders = context.getBean(Orders.class);
                    DistributedLock lock = context.getBean(LockClient.class).lock("order:7");
                    Map<String, List<Long>> nanos = new TreeMap<>();
                    for (int round = -3; round < ROUNDS; round++) { // the first ones warm up
                        long bare = time(() -> {
                            try (Hold hold = lock.acquire()) {
                                kept = hold.token();
                            }
                        });
                        long constant = time(orders::constant);
                        long expression = time(() -> orders.expression(7));
                        if (round >= 0) {
                            nanos.computeIfAbsent("1 acquire and close", first -> new ArrayList<>())
                                    .add(bare);
                            nanos.computeIfAbsent("2 @HoldLock(\"order:7\")", first -> new ArrayList<>())
                                    .add(constant);
                            nanos.computeIfAbsent("3 @HoldLock(\"order:#{#id}\")", first -> new ArrayList<>())
                                    .add(expression);
                        }
                    }
                    System.out.printf("%nmedians of %d rounds of %d calls%n", ROUNDS, CALLS);
                    nanos.forEach((name, all) ->
                            System.out.printf("%-30s %6.2f µs a call%n", name, median(all) / 1e3 / CALLS));
                });
    }

    private static long time(Call call) throws Exception {
        long began = System.nanoTime();
        for (int i = 0; i < CALLS; i++) {
            call.run();
        }
        return System.nanoTime() - began;
    }

    private static long median(List<Long> values) {
        return values.stream().sorted().toList().get(values.size() / 2);
    }

    /** Read by nobody; so that no call can be left out. */
    static volatile long kept;

    interface Call {
        void run() throws Exception;
    }

    static class Orders {
        @HoldLock("order:7")
        public void constant() {}

        @HoldLock("order:#{#id}")
        public void expression(long id) {}
    }
}
