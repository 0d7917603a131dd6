package dev.holdfast.redis;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HexFormat;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * What runs inside the server, each in one step: a file of that name beside this class. Those about one lock have
 * {@code state.lua}, which tells what is stored: read that first. Those that are called most have their common case before
 * the functions, in a file of its own.
 */
enum Script {
    CLAIM("state.lua", "number.lua", "claim_free.lua", "lock.lua", "claim.lua"),
    /** Of a claim that is not exclusive, or may be in the queue. */
    CLAIM_FULLY("state.lua", "number.lua", "lock.lua", "claim.lua"),
    RELEASE("state.lua", "release_held.lua", "number.lua", "lock.lua", "release.lua"),
    EXCHANGE("state.lua", "number.lua", "claim_free.lua", "lock.lua", "exchange.lua"),
    DOWNGRADE("state.lua", "number.lua", "lock.lua", "downgrade.lua"),
    STATUS("state.lua", "number.lua", "lock.lua", "status.lua"),
    WATCH("state.lua", "number.lua", "lock.lua", "watch.lua"),
    BREAK("state.lua", "number.lua", "lock.lua", "break.lua"),
    RENEW("renew.lua"),
    FENCE("fence.lua"),
    READ_RECORD("record_read.lua"),
    WRITE_RECORD("record_write.lua"),
    QUORUM_CLAIM(
            "quorum_ready.lua",
            "state.lua",
            "number.lua",
            "claim_free.lua",
            "lock.lua",
            "quorum_rise.lua",
            "quorum_claim.lua"),
    /** Of a claim that may be in the queue, or joins a grant. */
    QUORUM_CLAIM_FULLY(
            "quorum_ready.lua", "state.lua", "number.lua", "lock.lua", "quorum_rise.lua", "quorum_claim.lua"),
    QUORUM_RAISE("state.lua", "number.lua", "lock.lua", "quorum_rise.lua", "quorum_raise.lua"),
    QUORUM_MEMBER("quorum_member.lua");

    /** Those that only members of a quorum are asked to run. */
    static final Set<Script> OF_QUORUM = EnumSet.of(QUORUM_CLAIM, QUORUM_CLAIM_FULLY, QUORUM_RAISE, QUORUM_MEMBER);

    private final String body;
    private final String digest;

    Script(String... files) {
        this.body = Arrays.stream(files).map(Script::read).collect(Collectors.joining());
        this.digest = sha1(body);
    }

    /** The text, without its comments. */
    String body() {
        return body;
    }

    /** What the server knows it by once it has seen it. */
    String digest() {
        return digest;
    }

    private static String read(String file) {
        try (InputStream in = Script.class.getResourceAsStream(file)) {
            if (in == null) {
                throw new IllegalStateException(file + " is missing beside " + Script.class);
            }
            return new String(in.readAllBytes(), UTF_8)
                    .lines()
                    .filter(line -> !line.isBlank() && !line.stripLeading().startsWith("--"))
                    .collect(Collectors.joining("\n", "", "\n"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String sha1(String text) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-1").digest(text.getBytes(UTF_8)));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-1", e);
        }
    }
}
