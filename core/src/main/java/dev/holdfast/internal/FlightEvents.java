package dev.holdfast.internal;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.FlightRecorder;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import org.jspecify.annotations.Nullable;

/** The events for Java Flight Recorder. They cost next to nothing while no recording runs. */
final class FlightEvents {
    private FlightEvents() {}

    /** Whether the flight recorder was ever started; until then not even its classes are loaded, which takes 70 ms. */
    static boolean areRecorded() {
        return FlightRecorder.isInitialized();
    }

    static Wait beginWait() {
        Wait wait = new Wait();
        wait.begin();
        return wait;
    }

    static Held beginHold() {
        Held hold = new Held();
        hold.begin();
        return hold;
    }

    static Renewed beginRenewal() {
        Renewed renewal = new Renewed();
        renewal.begin();
        return renewal;
    }

    /** The fields of all events: which lock, and where it lives. */
    @Category("Holdfast")
    abstract static class OfLock extends Event {
        @Label("Lock")
        @Nullable
        String lock;

        @Label("Store")
        @Nullable
        String store;
    }

    /** A thread, or an asynchronous caller, waited for a lock. */
    @Name("dev.holdfast.Wait")
    @Label("Lock Wait")
    @Description("From the call to the grant, or to giving up")
    static final class Wait extends OfLock {
        @Label("Acquired")
        boolean acquired;

        @Label("Handed Over")
        @Description("Whether it came from another hold of this client, without the store")
        boolean handedOver;

        @Label("Reason")
        @Description("Why it was not acquired: TIMED_OUT, INTERRUPTED, CANCELLED, STORE_FAILED or CLIENT_CLOSED")
        @Nullable
        String reason;
    }

    /** A lock was held. */
    @Name("dev.holdfast.Hold")
    @Label("Lock Hold")
    @Description("From the grant to the close, or to the loss")
    @StackTrace(false)
    static final class Held extends OfLock {
        @Label("Token")
        long token;

        @Label("Handed Over")
        @Description("Whether it came from another hold of this client, without the store")
        boolean handedOver;

        @Label("Lost")
        @Description("Whether it ended otherwise than by its own close")
        boolean lost;
    }

    /** A hold was lost. */
    @Name("dev.holdfast.Loss")
    @Label("Lock Loss")
    @Description("A hold ended otherwise than by its own close")
    @StackTrace(false)
    static final class Lost extends OfLock {
        @Label("Token")
        long token;

        @Label("Cause")
        @Nullable
        String cause;
    }

    /** Leases were renewed: one request, for all holds that were due. */
    @Name("dev.holdfast.Renewal")
    @Label("Lock Renewal")
    @Description("From the request to the store's answer, for all holds of one batch; Lock is the first of them")
    @StackTrace(false)
    static final class Renewed extends OfLock {
        @Label("Holds")
        int holds;

        @Label("Unanswered")
        @Description("How many of them the store said nothing of; they are tried again")
        int unanswered;
    }

    /** The store did not confirm a release. */
    @Name("dev.holdfast.ReleaseFailed")
    @Label("Lock Release Failed")
    @Description("The store did not confirm a release; the lock is free when its lease or session ends at the latest")
    @StackTrace(false)
    static final class ReleaseFailed extends OfLock {
        @Label("Token")
        long token;

        @Label("Reason")
        @Nullable
        String reason;
    }
}
