package dev.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.Hold;
import dev.holdfast.HoldOptions;
import dev.holdfast.LockClient;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.support.StaticListableBeanFactory;

/** The elections of an application that stops while calls of beans made late begin to stand for theirs. */
class LeadershipsTest {
    private static final int ROUNDS = 10;
    private static final int CALLS = 8;

    @Test
    void anElectionThatACallStandsForDuringTheStopIsLeftToo() throws Exception {
        for (int round = 0; round < ROUNDS; round++) {
            try (LockClient client = LockClient.connect("mem:")) {
                stopDuringFirstCalls(client);
                for (int call = 0; call < CALLS; call++) {
                    assertThat(client.lock("late" + call).tryAcquire(Duration.ofSeconds(5)))
                            .as("behind the candidates of round %s", round)
                            .hasValueSatisfying(Hold::close);
                }
            }
        }
    }

    private static void stopDuringFirstCalls(LockClient client) throws InterruptedException {
        CountDownLatch standing = new CountDownLatch(1);
        CompletableFuture<Void> goOn = new CompletableFuture<>();
        StaticListableBeanFactory beans = new StaticListableBeanFactory() {
            @Override
            public boolean containsBean(
                    String name) { // asked for the options, in the middle of a candidacy's beginning
                standing.countDown();
                goOn.join();
                return super.containsBean(name);
            }
        };
        beans.addBean("lockClient", client);
        LockClients clients = new LockClients(beans, HoldOptions.defaults(), Map.of("another", HoldOptions.defaults()));
        Leaderships leaderships = new Leaderships(clients, List::of, event -> {});
        leaderships.start();
        List<Thread> calls = IntStream.range(0, CALLS)
                .mapToObj(call -> started(() -> leaderships.term(new Leaderships.Election("late" + call, ""))))
                .toList();
        standing.await();
        Thread stop = started(leaderships::stop);
        await().until(() -> stop.getState() == Thread.State.BLOCKED || !stop.isAlive());
        goOn.complete(null);
        for (Thread call : calls) {
            call.join();
        }
        stop.join();
    }

    private static Thread started(Runnable task) {
        Thread thread = new Thread(task);
        thread.start();
        return thread;
    }
}
