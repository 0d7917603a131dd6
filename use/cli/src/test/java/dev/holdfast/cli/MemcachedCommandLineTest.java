package dev.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testbed.ChildProcess;
import dev.holdfast.testbed.MemcachedServer;
import dev.holdfast.testbed.Ports;
import dev.holdfast.testbed.Started;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The command line on Memcached, which has exclusive locks alone. */
class MemcachedCommandLineTest {
    @Started
    private static MemcachedServer server;

    @TempDir
    private Path folder;

    @Test
    void aLockIsHeldListedBrokenAndTakenByTheNext() {
        Cli cli = new Cli(folder, "memcached://" + server.endpoint());
        try (ChildProcess holder =
                cli.start("run", "Größe {42}:*", "--", "sh", "-c", "echo in $HOLDFAST_TOKEN; exec sleep 600")) {
            String in = holder.expect("in ", Cli.SOON);
            try (OneProcess process = new OneProcess(cli)) {
                Cli.Ended list = process.run("list");
                assertThat(list.err()).singleElement().asString().contains("does not know who waits");
                assertThat(list.out())
                        .last()
                        .asString()
                        .startsWith("Größe {42}:*")
                        .endsWith(" -");
                assertThat(process.run("list", "--json").out().get(0)).contains("\"waiting\":null");
                assertThat(process.run("why", "Größe {42}:*").out())
                        .anyMatch(line -> line.contains("waiting     this store does not know who waits"));
                assertThat(process.run("top", "--count", "1").out())
                        .anyMatch(line -> line.contains("does not know who waits"))
                        .noneMatch(line -> line.contains("0 waiters"));
                Cli.Ended busy = cli.run("run", "--wait", "0", "Größe {42}:*", "--", "true");
                assertThat(busy.code()).isEqualTo(ExitCode.NOT_ACQUIRED);
                assertThat(busy.err()).singleElement().asString().contains("held by", cli.store());
                assertThat(process.run("break", "--yes", "--now", "Größe {42}:*")
                                .code())
                        .isZero();
            }
            Cli.Ended next = cli.run("run", "Größe {42}:*", "--", "sh", "-c", "echo $HOLDFAST_TOKEN");
            assertThat(next.code()).isZero();
            assertThat(Long.parseLong(next.out().get(0))).isGreaterThan(Long.parseLong(in.substring("in ".length())));
        }
    }

    @Test
    void aRecordOfAnotherProgramIsNotBrokenAndTheReasonIsSaid() {
        Cli cli = new Cli(folder, "memcached://" + server.endpoint());
        server.set("holdfast:lock:foreign", 3);
        try (OneProcess process = new OneProcess(cli)) {
            Cli.Ended broken = process.run("break", "--yes", "foreign");

            assertThat(broken.code()).isEqualTo(ExitCode.STORE_UNAVAILABLE);
            assertThat(broken.err())
                    .singleElement()
                    .asString()
                    .contains("'foreign'", "cannot be read", "nothing was broken");
        }
        server.ask("delete holdfast:lock:foreign");
    }

    @Test
    void whatMemcachedLacksIsRefusedAndAServerThatIsAwayIsExplainedInOneLine() {
        Cli cli = new Cli(folder, "memcached://" + server.endpoint());
        try (OneProcess process = new OneProcess(cli)) {
            Cli.Ended shared = process.run("run", "--shared", "job", "--", "true");
            assertThat(shared.code()).isNotZero();
            assertThat(shared.err()).singleElement().asString().startsWith("holdfast: ");

            Cli.Ended once = process.run("once", "--every", "1h", "job", "--", "true");
            assertThat(once.code()).isNotZero();
            assertThat(once.err())
                    .singleElement()
                    .asString()
                    .startsWith("holdfast: ")
                    .contains("keeps no records");

            Cli.Ended away = process.run("--store", "memcached://127.0.0.1:" + Ports.free(), "list");
            assertThat(away.code()).isEqualTo(ExitCode.STORE_UNAVAILABLE);
            assertThat(away.err()).singleElement().asString().contains("is it up");
        }
    }
}
