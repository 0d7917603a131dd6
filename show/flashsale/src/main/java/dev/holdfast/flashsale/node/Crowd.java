package dev.holdfast.flashsale.node;

import dev.holdfast.flashsale.guard.Faults;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.springframework.boot.web.server.context.WebServerInitializedEvent;
import org.springframework.context.event.EventListener;
import org.springframework.stereotype.Component;

/**
 * Reports to the program that has started this server how many orders are here, and how many of them have read and not yet
 * written; the others wait. A line "orders HERE AT-WORK" on the standard output, when one of the numbers has changed.
 */
@Component
final class Crowd implements AutoCloseable {
    private static final long INTERVAL = 100; // milliseconds

    private final Checkout checkout;
    private final Faults faults;
    private final ScheduledExecutorService reporter = Executors.newSingleThreadScheduledExecutor(task -> {
        Thread thread = new Thread(task, "crowd");
        thread.setDaemon(true);
        return thread;
    });
    private String last = "orders 0 0";

    Crowd(Checkout checkout, Faults faults) {
        this.checkout = checkout;
        this.faults = faults;
    }

    @EventListener(WebServerInitializedEvent.class)
    void start() {
        reporter.scheduleWithFixedDelay(this::report, INTERVAL, INTERVAL, TimeUnit.MILLISECONDS);
    }

    private void report() {
        String now = "orders " + checkout.present() + " " + faults.between();
        if (!now.equals(last)) {
            last = now;
            System.out.println(now);
        }
    }

    @Override
    public void close() {
        reporter.shutdownNow();
    }
}
