package dev.holdfast.recipes;

import dev.holdfast.DistributedLock;
import dev.holdfast.DistributedMultiLock;
import dev.holdfast.HoldOptions;
import dev.holdfast.LockClient;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.Locale;
import java.util.zip.CRC32;

/**
 * Many keys on a fixed number of locks: the names in the store stay few, however many keys there are, and several keys
 * can be locked together without a deadlock.
 *
 * <pre>{@code
 * Stripes accounts = Stripes.of(client, "account", 64);
 * try (Hold hold = accounts.lock("4711").acquire()) {
 *     ledger.deposit("4711", 100, hold.token());
 * }
 * try (MultiHold both = accounts.bulk(List.of("4711", "4712")).acquire()) {
 *     ledger.transfer("4711", both.token(accounts.name("4711")), "4712", both.token(accounts.name("4712")), 100);
 * }
 * }</pre>
 *
 * <p>A key belongs to the stripe {@code crc32(key in UTF-8) mod stripes}, which a program in any language can compute.
 * Two keys may share a stripe; their holders then wait for each other, so do not acquire a second key while one is held:
 * use {@link #bulk}. All programs must use the same number of stripes: programs with different numbers lock different
 * names for the same key, and do not exclude each other. Stop all programs before the number changes.
 *
 * <p>Immutable and thread-safe.
 */
public final class Stripes {
    private static final int MOST = 65_536;

    private final LockClient client;
    private final String name;
    private final int stripes;
    private final HoldOptions options;

    private Stripes(LockClient client, String name, int stripes, HoldOptions options) {
        this.client = client;
        this.name = name;
        this.stripes = stripes;
        this.options = options;
    }

    /**
     * Stripes of a client.
     *
     * @param name the prefix of the lock names {@code name/0} to {@code name/(stripes - 1)}
     * @param stripes how many locks there are, 1 to 65,536
     * @throws IllegalArgumentException if the number of stripes is out of range, or the name is not a lock's name
     */
    public static Stripes of(LockClient client, String name, int stripes) {
        return of(client, name, stripes, HoldOptions.defaults());
    }

    /** Stripes whose holds have options; as {@link #of(LockClient, String, int)}. */
    public static Stripes of(LockClient client, String name, int stripes, HoldOptions options) {
        if (stripes < 1 || stripes > MOST) {
            throw new IllegalArgumentException(
                    String.format(Locale.ROOT, "'%s' needs 1 to %,d stripes, not %,d", name, MOST, stripes));
        }
        Stripes made = new Stripes(client, name, stripes, options);
        client.lock(made.nameOf(stripes - 1), options); // refused here, not at the first key
        return made;
    }

    /** The lock that guards a key. */
    public DistributedLock lock(String key) {
        return client.lock(name(key), options);
    }

    /**
     * The lock of several keys at once: all of their stripes or none, each once, in one order for all programs.
     *
     * @param keys at least one, on at most 100 different stripes
     * @throws IllegalArgumentException if there are none, or too many
     */
    public DistributedMultiLock bulk(Collection<String> keys) {
        return client.multiLock(keys.stream().map(this::name).distinct().toList(), options);
    }

    /** The name of the lock that guards a key: what {@link dev.holdfast.MultiHold#token} asks for. */
    public String name(String key) {
        return nameOf(stripe(key));
    }

    /** The stripe of a key, from 0. */
    public int stripe(String key) {
        CRC32 sum = new CRC32();
        sum.update(key.getBytes(StandardCharsets.UTF_8));
        return (int) (sum.getValue() % stripes);
    }

    private String nameOf(int stripe) {
        return LockNames.of(name, stripe);
    }

    @Override
    public String toString() {
        return "Stripes[" + name + ", " + stripes + "]";
    }
}
