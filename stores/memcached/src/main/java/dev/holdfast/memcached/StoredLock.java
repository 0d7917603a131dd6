package dev.holdfast.memcached;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.Holder;
import dev.holdfast.LockMode;
import dev.holdfast.LockStatus;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.support.HolderWord;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.HexFormat;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The value of a lock's item: words between spaces, those of people URL-encoded.
 *
 * @param id the claim that holds
 * @param broken whether it was broken: then it is never renewed, and ends with its item
 * @param number the number of the grant; 0 until it is written, see {@link #numberAt}
 * @param base the base of the numbers, as the claim knew it
 * @param since when it was acquired, by the clock of the holder, as Memcached tells no time; in milliseconds
 * @param renewed when the lease began, by the clock of the holder
 * @param name of the lock, which the key may not show
 */
record StoredLock(
        ClaimId id,
        boolean broken,
        long number,
        long base,
        Duration lease,
        long since,
        long renewed,
        Holder holder,
        String name) {
    static final String PREFIX = "holdfast:";

    private static final String KEYS = PREFIX + "lock:";
    private static final String HASHED_KEYS = PREFIX + "hash:";
    private static final int LONGEST_KEY = 250;
    private static final int TOKENS_PER_NUMBER = 1024;
    private static final String LAYOUT = "holdfast-1";
    private static final int WORDS = 13;

    /** As a claim writes it, without knowing its number yet. */
    static StoredLock of(Claim claim, long base, long now) {
        return new StoredLock(claim.id(), false, 0, base, claim.lease(), now, now, claim.holder(), claim.name());
    }

    /** The key of a lock: its name, or a hash of the name if that is too long or has more than printable ASCII. */
    static String key(String name) {
        boolean plain =
                KEYS.length() + name.length() <= LONGEST_KEY && name.chars().allMatch(c -> c > ' ' && c < 127);
        return plain ? KEYS + name : HASHED_KEYS + hash(name);
    }

    /** Whether a key may be that of a lock. */
    static boolean isKey(String key) {
        return key.startsWith(KEYS) || key.startsWith(HASHED_KEYS);
    }

    /** The number of the grant, in an item with this CAS id. */
    long numberAt(long cas) {
        return number > 0 ? number : base + cas;
    }

    /** Whether a claim holds by it, and was not broken. */
    boolean isOf(ClaimId claim) {
        return id.equals(claim) && !broken;
    }

    /** With a lease that begins now. */
    StoredLock renewed(Grant grant, long now) {
        return new StoredLock(id, false, grant.number(), base, grant.lease(), since, now, holder, name);
    }

    /** Broken. */
    StoredLock broken(long itsNumber) {
        return new StoredLock(id, true, itsNumber, base, lease, since, renewed, holder, name);
    }

    LockStatus status(long cas, long now) {
        Duration passed = Duration.ofMillis(Math.max(0, now - renewed));
        Duration left = passed.compareTo(lease) < 0 ? lease.minus(passed) : Duration.ZERO;
        Duration held = Duration.ofMillis(Math.max(0, now - since));
        return new LockStatus(
                name,
                Optional.of(
                        new LockStatus.Held(LockMode.EXCLUSIVE, numberAt(cas) * TOKENS_PER_NUMBER, holder, held, left)),
                0);
    }

    String write() {
        return String.join(
                " ",
                LAYOUT,
                id.value(),
                broken ? "broken" : "held",
                Long.toString(number),
                Long.toString(base),
                Long.toString(lease.toMillis()),
                Long.toString(since),
                Long.toString(renewed),
                HolderWord.encode(holder.host()),
                Long.toString(holder.pid()),
                HolderWord.encode(holder.thread()),
                HolderWord.encode(holder.label()),
                HolderWord.encode(name));
    }

    /** Null if Holdfast has not written it, or a newer one has. */
    static @Nullable StoredLock read(String value) {
        String[] words = value.split(" ", -1);
        if (words.length != WORDS || !words[0].equals(LAYOUT)) {
            return null;
        }
        try {
            return new StoredLock(
                    ClaimId.of(words[1]),
                    words[2].equals("broken"),
                    Long.parseLong(words[3]),
                    Long.parseLong(words[4]),
                    Duration.ofMillis(Long.parseLong(words[5])),
                    Long.parseLong(words[6]),
                    Long.parseLong(words[7]),
                    new Holder(
                            HolderWord.decode(words[8]),
                            Long.parseLong(words[9]),
                            HolderWord.decode(words[10]),
                            HolderWord.decode(words[11])),
                    HolderWord.decode(words[12]));
        } catch (IllegalArgumentException foreign) {
            return null;
        }
    }

    private static String hash(String name) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(name.getBytes(UTF_8)));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JVM has SHA-256", e);
        }
    }
}
