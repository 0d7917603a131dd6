package dev.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.spi.Claim;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Mode;
import dev.holdfast.spi.RecordWrite;
import dev.holdfast.spi.Renewal;
import dev.holdfast.spi.support.Asked;
import dev.holdfast.testbed.RedisServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The rights of a user of the server, and all requests that a store makes. */
final class Rights {
    /** The commands that the page gives administrators to run. */
    private static final Pattern ON_PAGE =
            Pattern.compile("ACL SETUSER locks on >password ~holdfast:\\* &holdfast:\\* ([^`]*)```");

    private Rights() {}

    /** The commands on the page, as {@code +get +set …}. */
    static String onThePage() {
        try {
            String page = Files.readString(Path.of("..", "..", "docs", "redis-store.md"));
            Matcher found = ON_PAGE.matcher(page);
            assertThat(found.find()).as("the rights on the page").isTrue();
            return found.group(1).strip().replaceAll("\\s+", " ");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Makes a user with the password {@code pw} that has these rights and no others. */
    static void give(RedisServer server, String user, String commands) {
        server.call(("ACL SETUSER " + user + " reset on >pw ~holdfast:* &holdfast:* " + commands).split(" "));
    }

    /** All requests of stores to a server, with one of two clients waiting for the other. */
    static void useAll(RedisStore one, RedisStore two, String name) {
        Grant writer = Rig.hold(one, name);
        Asked next = Rig.queue(two, name);
        Asked third = Rig.queue(two, name);
        assertThat(Rig.renew(one, writer)).isEqualTo(Renewal.Verdict.HELD);
        assertThat(Rig.get(one.list(name))).hasSize(1);
        third.cancel();
        Rig.release(one, writer);
        Grant second = Rig.granted(next);
        assertThat(Rig.get(two.downgrade(second))).isTrue();
        Grant reader = Rig.hold(one, Rig.claim(name, Mode.SHARED));
        assertThat(Rig.get(one.renew(List.of(reader)))).hasSize(1);
        Rig.release(two, second);
        assertThat(Rig.get(one.status(name)).isHeld()).isTrue();
        assertThat(Rig.get(one.breakGrant(name, reader.number(), true))).isTrue();
        Claim permits = Rig.claim(name + ":permits", new Mode.Permits(2, 3));
        Rig.release(one, Rig.hold(one, permits));
        Rig.get(one.writeRecord(new RecordWrite(name, 1, RecordWrite.ABSENT, "ran", Duration.ofSeconds(5))));
        assertThat(Rig.get(one.readRecord(name)).stored()).isPresent();
        assertThat(Rig.get(one.listRecords(name))).hasSize(1);
        Rig.get(one.writeRecord(new RecordWrite(name, 2, RecordWrite.ANY, "", Duration.ZERO)));
    }
}
