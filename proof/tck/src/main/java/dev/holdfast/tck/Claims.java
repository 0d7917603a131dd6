package dev.holdfast.tck;

import dev.holdfast.Holder;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Mode;
import java.time.Duration;

/** Claims as the cases make them: exclusive, not waiting and with a long lease unless said otherwise. */
final class Claims {
    /** Runs out in no test. */
    static final Duration LONG = Duration.ofSeconds(60);

    static final Holder HOLDER = new Holder("kit-host", 4711, "kit-thread", "kit");

    private Claims() {}

    static Claim of(String name) {
        return new Claim(ClaimId.random(), name, Mode.EXCLUSIVE, LONG, false, 0, HOLDER);
    }

    static Claim waiting(Claim of) {
        return new Claim(of.id(), of.name(), of.mode(), of.lease(), true, of.floor(), of.holder());
    }

    static Claim lease(Claim of, Duration lease) {
        return new Claim(of.id(), of.name(), of.mode(), lease, of.waits(), of.floor(), of.holder());
    }

    static Claim floor(Claim of, long floor) {
        return new Claim(of.id(), of.name(), of.mode(), of.lease(), of.waits(), floor, of.holder());
    }

    static Claim mode(Claim of, Mode mode) {
        return new Claim(of.id(), of.name(), mode, of.lease(), of.waits(), of.floor(), of.holder());
    }
}
