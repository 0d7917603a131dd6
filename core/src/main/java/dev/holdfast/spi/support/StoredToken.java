package dev.holdfast.spi.support;

import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * A fencing token as a store keeps it, where another program may have written something else. What is no token is refused
 * and stays: to write over it would destroy the data of the other program, and to compare with it would admit or refuse
 * tokens by chance.
 *
 * <pre>{@code
 * long highest = StoredToken.of(text).orElseThrow(() -> refused(StoredToken.foreign("key is " + key)));
 * }</pre>
 */
public final class StoredToken {
    private StoredToken() {}

    /** The token; empty unless the text is a number from 0 to {@link Long#MAX_VALUE}, as {@link Long#toString(long)} writes it. */
    public static OptionalLong of(@Nullable String text) {
        try {
            long token = Long.parseLong(text);
            return token >= 0 && Long.toString(token).equals(text) ? OptionalLong.of(token) : OptionalLong.empty();
        } catch (NumberFormatException foreign) {
            return OptionalLong.empty();
        }
    }

    /**
     * What a fence says of a value that is no token, after the name of its store.
     *
     * @param place where it is, such as {@code key is /holdfast/fences/report}
     */
    public static String foreign(String place) {
        return "has a value where a fence keeps the highest token that is no token: remove it, or name the resource"
                + " otherwise; its " + place;
    }
}
