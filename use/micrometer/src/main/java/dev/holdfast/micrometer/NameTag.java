package dev.holdfast.micrometer;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

/**
 * How a lock's name becomes the value of the tag {@code lock}. Every value is a set of time series of its own, and locks
 * are often named by a row, so the number of values is always bounded: those that come too late are {@code other}.
 * Thread-safe.
 */
public final class NameTag {
    /** The value for names beyond the bound. */
    static final String OTHER = "other";
    /** The value of the only tag where names are not told apart. */
    static final String ALL = "all";

    private static final int MOST = 100;
    private static final Function<String, String> NO_NAMES = name -> ALL;

    private final Function<String, String> grouping;
    private final int most;
    private final Set<String> values = ConcurrentHashMap.newKeySet();

    private NameTag(Function<String, String> grouping, int most) {
        if (most < 1 || most > 1_000) {
            throw new IllegalArgumentException("a tag has 1 to 1000 values, not " + most);
        }
        this.grouping = grouping;
        this.most = most;
    }

    /** Does not tell names apart: the tag is always {@code all}. */
    public static NameTag none() {
        return new NameTag(NO_NAMES, 1);
    }

    /**
     * The whole name, for applications with few locks.
     *
     * @param most how many names have a value of their own, 1 to 1000
     */
    public static NameTag first(int most) {
        return new NameTag(name -> name, most);
    }

    /** What comes before a character: {@code order} for {@code order:42}; the whole name without it. At most 100 values. */
    public static NameTag before(char separator) {
        return by(
                name -> {
                    int end = name.indexOf(separator);
                    return end < 0 ? name : name.substring(0, end);
                },
                MOST);
    }

    /**
     * A group that a function finds; null and the empty text are {@code other}.
     *
     * @param grouping from a lock's name, without namespace, to the value of the tag; short, and thread-safe
     * @param most how many values there may be, 1 to 1000
     */
    public static NameTag by(Function<String, String> grouping, int most) {
        return new NameTag(grouping, most);
    }

    /** The value for a lock. */
    public String of(String name) {
        String value = grouping.apply(name);
        if (value == null || value.isEmpty()) {
            return OTHER;
        }
        // Calls come one after another for each client; two clients may pass the bound by one value, no more.
        return values.contains(value) || values.size() < most && values.add(value) ? value : OTHER;
    }

    boolean isNone() {
        return grouping == NO_NAMES;
    }
}
