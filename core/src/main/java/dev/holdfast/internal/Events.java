package dev.holdfast.internal;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.FlightRecorder;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import org.jspecify.annotations.Nullable;

/** What Java Flight Recorder sees. Costs next to nothing while no recording runs. */
final class Events {
    private Events() {}

    /** Whether the flight recorder was ever started; until then not even its classes are loaded, which takes 70 ms. */
    static boolean areRecorded() {
        return FlightRecorder.isInitialized();
    }

    /** A thread, or an asynchronous caller, waited for a lock. */
    @Name("dev.holdfast.Wait")
    @Label("Lock Wait")
    @Description("From the call to the grant, or to giving up")
    @Category("Holdfast")
    static final class Wait extends Event {
        @Label("Lock")
        @Nullable
        String lock;

        @Label("Acquired")
        boolean acquired;
    }

    /** A lock was held. */
    @Name("dev.holdfast.Hold")
    @Label("Lock Hold")
    @Description("From the grant to the close")
    @Category("Holdfast")
    @StackTrace(false)
    static final class Held extends Event {
        @Label("Lock")
        @Nullable
        String lock;

        @Label("Token")
        long token;

        @Label("Handed Over")
        @Description("Whether it came from another hold of this client, without the store")
        boolean handedOver;
    }

    /** A hold was lost. */
    @Name("dev.holdfast.Loss")
    @Label("Lock Loss")
    @Description("A hold ended otherwise than by its own close")
    @Category("Holdfast")
    @StackTrace(false)
    static final class Lost extends Event {
        @Label("Lock")
        @Nullable
        String lock;

        @Label("Token")
        long token;

        @Label("Cause")
        @Nullable
        String cause;
    }
}
