package dev.holdfast.internal;

import dev.holdfast.Holder;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.ClaimId;
import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;

/**
 * Makes the claims of a client: each has an id of its own, describes the claimant, and names the highest grant number
 * that this client has seen, which the number of any later grant must be above. Thread-safe.
 */
final class ClaimFactory {
    private static final Path LINUX_NAME = Path.of("/proc/sys/kernel/hostname");

    private final Supplier<ClaimId> ids;
    private final String host = host();
    private final long pid = ProcessHandle.current().pid();
    private final String label;
    private final AtomicLong highestNumber = new AtomicLong();

    ClaimFactory(Supplier<ClaimId> ids, String label) {
        this.ids = ids;
        this.label = label;
    }

    Claim claimFor(LockName name, Waiter asker) {
        Thread thread = asker.thread;
        String who = thread == null ? "async" : thread.getName();
        return new Claim(
                ids.get(),
                name.inStore(),
                asker.mode,
                asker.options.lease(),
                asker.waits,
                highestNumber.get(),
                holder(who));
    }

    /** This process, as people should see it beside its holds. */
    Holder holder(String thread) {
        return new Holder(host, pid, thread, label);
    }

    /** A grant number that any later one of this client must be above. */
    void saw(long number) {
        if (Tokens.isNumber(number)) {
            highestNumber.accumulateAndGet(number, Math::max);
        }
    }

    /** Without asking a name server where that can be avoided: a slow one would stall the first lock by seconds. */
    private static String host() {
        try {
            return Files.readString(LINUX_NAME).strip();
        } catch (IOException notLinux) {
            return nameByAddress();
        }
    }

    private static String nameByAddress() {
        try {
            return InetAddress.getLocalHost().getHostName();
        } catch (UnknownHostException unnamed) {
            return "localhost";
        }
    }
}
