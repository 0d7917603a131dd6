package dev.holdfast.bench.run;

import java.util.Arrays;
import java.util.random.RandomGenerator;

/** Which of many names a thread takes next. For one thread. */
interface Names {
    /** How many names a service has, and how many of them every second turn takes. */
    int OF_A_SERVICE = 200;

    int POPULAR = 20;

    /** How many names there are where a few are taken often and most seldom. */
    int MANY = 100_000;

    /** The number of the next name. */
    int next();

    /** Two hundred names, half of the time one of the same twenty. */
    static Names ofAService(RandomGenerator random) {
        return () -> random.nextInt(random.nextBoolean() ? POPULAR : OF_A_SERVICE);
    }

    /** A hundred thousand names, the n-th taken 1/n times as often as the first. */
    static Names zipf(RandomGenerator random) {
        return () -> {
            int found = Arrays.binarySearch(Zipf.CUMULATIVE, random.nextDouble());
            return Math.min(MANY - 1, found >= 0 ? found : -found - 1);
        };
    }

    /** Each once. */
    static Names once() {
        return new Names() {
            private int next;

            @Override
            public int next() {
                return next++;
            }
        };
    }

    /** The shares of the names up to each. */
    final class Zipf {
        private static final double[] CUMULATIVE = new double[MANY];

        static {
            double sum = 0;
            for (int i = 0; i < MANY; i++) {
                sum += 1.0 / (i + 1);
                CUMULATIVE[i] = sum;
            }
            for (int i = 0; i < MANY; i++) {
                CUMULATIVE[i] /= sum;
            }
        }

        private Zipf() {}
    }
}
