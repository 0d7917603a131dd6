package dev.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.Hold;
import dev.holdfast.LockClient;
import dev.holdfast.testbed.ChildProcess;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ListTest {
    @TempDir
    Path folder;

    private Cli cli;

    @BeforeEach
    void storeOfItsOwn() {
        cli = new Cli(folder);
    }

    @Test
    void showsWhoHoldsWhatInAnAlignedTable() throws InterruptedException {
        try (LockClient client =
                        LockClient.builder(cli.store()).label("nightly").build();
                Hold order = client.lock("order:42").acquire();
                Hold report = client.lock("the long report").acquire()) {
            Cli.Ended ended = cli.run("list");

            assertThat(ended.code()).isZero();
            assertThat(ended.err()).isEmpty();
            assertThat(ended.out()).hasSize(3);
            assertThat(ended.out().get(0)).matches("NAME +MODE +TOKEN +HOLDER +HELD FOR +LEASE LEFT +WAITING");
            assertThat(ended.out().get(1))
                    .matches("order:42 +exclusive +" + order.token() + " +\\S+:" + pid()
                            + " \\(nightly\\) +\\w+ +\\d\\ds +0");
            assertThat(ended.out().get(2)).contains("the long report  exclusive", Long.toString(report.token()));
            assertThat(ended.out())
                    .extracting(String::length)
                    .containsOnly(ended.out().get(0).length());
        }
    }

    @Test
    void showsTheDocumentedJson() throws InterruptedException {
        String name = "a \"quoted\" \\ größe";
        try (LockClient client =
                        LockClient.builder(cli.store()).label("nightly").build();
                Hold hold = client.lock(name).acquire()) {
            Cli.Ended ended = cli.run("list", "--json");

            assertThat(ended.code()).isZero();
            assertThat(ended.out())
                    .singleElement()
                    .asString()
                    .matches(
                            "\\[\\{\"name\":\"a \\\\\"quoted\\\\\" \\\\\\\\ gr\\\\u00f6\\\\u00dfe\",\"mode\":\"exclusive\",\"token\":"
                                    + hold.token() + ",\"holder\":\\{\"host\":\"[^\"]+\",\"pid\":" + pid()
                                    + ",\"label\":\"nightly\"},\"heldMillis\":\\d+,\"leaseLeftMillis\":\\d+,\"waiting\":0}]");
        }
    }

    @Test
    void showsOnlyWhatMatchesThePattern() throws InterruptedException {
        try (LockClient client = cli.client();
                Hold order = client.lock("order:42").acquire();
                Hold report = client.lock("report").acquire()) {
            assertThat(order.isValid() && report.isValid()).isTrue();
            assertThat(cli.run("list", "order:*").out())
                    .hasSize(2)
                    .last()
                    .asString()
                    .startsWith("order:42");
            assertThat(cli.run("list", "rep?rt").out())
                    .hasSize(2)
                    .last()
                    .asString()
                    .startsWith("report");
            Cli.Ended none = cli.run("list", "invoice:*");
            assertThat(none.code()).isZero();
            assertThat(none.out()).isEmpty();
            assertThat(none.err()).singleElement().asString().contains("'invoice:*'", cli.store());
        }
    }

    @Test
    void countsWhoWaits() throws InterruptedException {
        try (LockClient client = cli.client();
                Hold hold = client.lock("job").acquire();
                ChildProcess waiter = cli.start("run", "job", "--", "true")) {
            await().atMost(Cli.SOON).until(() -> client.lock("job").status().waiting() == 1);

            assertThat(cli.run("list").out()).last().asString().matches(".*" + hold.token() + ".* 1");
            assertThat(waiter.isAlive()).isTrue();
        }
    }

    @Test
    void saysThatNothingIsHeldAndMakesNoFile() {
        Cli.Ended table = cli.run("list");
        assertThat(table.code()).isZero();
        assertThat(table.out()).isEmpty();
        assertThat(table.err()).singleElement().asString().contains("no lock is held", cli.store());

        assertThat(cli.run("list", "--json").out()).containsExactly("[]");
        assertThat(folder).isEmptyDirectory();
    }

    private static long pid() {
        return ProcessHandle.current().pid();
    }
}
