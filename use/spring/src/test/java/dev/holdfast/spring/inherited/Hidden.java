package dev.holdfast.spring.inherited;

import dev.holdfast.spring.HoldLock;
import dev.holdfast.spring.LeaderOnly;
import dev.holdfast.spring.Once;

/** Classes whose annotated methods other packages inherit. */
public final class Hidden {
    private Hidden() {}

    /** No class of another package can override it. */
    public static class OfHoldLock {
        @HoldLock("a")
        void run() {}
    }

    /** The same. */
    public static class OfOnce {
        @Once(every = "1h")
        void run() {}
    }

    /** The same. */
    public static class OfLeaderOnly {
        @LeaderOnly("a")
        void run() {}
    }

    /** The method can be overridden. */
    public static class Protected {
        /** Calls it as its own package does. */
        public static boolean call(Protected bean) {
            return bean.run();
        }

        /** Whether the lock is held. */
        @HoldLock("a")
        protected boolean run() {
            return dev.holdfast.spring.Locks.current().isPresent();
        }
    }
}
