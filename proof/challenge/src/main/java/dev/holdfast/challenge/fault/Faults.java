package dev.holdfast.challenge.fault;

import java.util.List;

/** All faults. A new one is an entry here. */
public final class Faults {
    /** Nothing is done, which takes the least time. */
    public static final Fault STEADY = new Steady();

    /** All there are. */
    public static final List<Fault> ALL = List.of(
            STEADY,
            new PauseHolder(),
            new KillHolder(),
            new KillWaiter(),
            new InterruptWaiter(),
            new LostReply(LostReply.Request.CLAIM),
            new LostReply(LostReply.Request.RENEW),
            new LostReply(LostReply.Request.RELEASE),
            new Reset(true),
            new Reset(false),
            new Partition(),
            new ClientClock(),
            new StoreClock(),
            new KillServer(),
            new Failover(true),
            new Failover(false));

    private Faults() {}
}
