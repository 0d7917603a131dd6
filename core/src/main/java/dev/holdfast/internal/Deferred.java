package dev.holdfast.internal;

import java.util.Iterator;
import java.util.List;

/** The steps to run after a mutex is free, combined. A later step runs also if an earlier one throws. */
final class Deferred {
    static final Runnable NOTHING = () -> {};

    private Deferred() {}

    static Runnable both(Runnable first, Runnable second) {
        if (first == NOTHING) {
            return second;
        }
        if (second == NOTHING) {
            return first;
        }
        return () -> {
            try {
                first.run();
            } finally {
                second.run();
            }
        };
    }

    /** Any number of them, one after another: {@link #both} would run thousands each within the next. */
    static Runnable all(List<Runnable> steps) {
        return steps.isEmpty() ? NOTHING : () -> runAll(steps.iterator());
    }

    private static void runAll(Iterator<Runnable> steps) {
        try {
            while (steps.hasNext()) {
                steps.next().run();
            }
        } finally {
            if (steps.hasNext()) {
                runAll(steps); // one threw
            }
        }
    }
}
