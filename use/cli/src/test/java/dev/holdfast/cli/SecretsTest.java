package dev.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testbed.ChildJvm;
import dev.holdfast.testbed.ChildProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A password in a URL is shown nowhere, however the URL is written, and whoever writes the message. */
@Tag("thorough")
class SecretsTest {
    /** What every secret here has in it. */
    private static final String MARK = "S3CRETX";

    private static final Duration LONG = Duration.ofMinutes(9);

    private static final List<String> PASSWORDS =
            List.of(MARK, "my " + MARK, MARK + "@x/y", "a:b%zz" + MARK, "\"q" + MARK + "#1?");

    /** PASS stands for the secret; nothing listens on port 1. */
    private static final List<String> URLS = List.of(
            "redis://:PASS@127.0.0.1:1",
            "redis://me:PASS@127.0.0.1:1/0",
            "redis//me:PASS@127.0.0.1:1",
            "redis:me:PASS@127.0.0.1:1",
            "redis:/me:PASS@127.0.0.1:1",
            "redis:///me:PASS@127.0.0.1",
            "redis://PASS@127.0.0.1:1",
            "redis://me:PASS@",
            "redis://me:PASS",
            "redis://me:PASS@127.0.0.1:port",
            "redis://me:PASS@127.0.0.1:99999",
            "redis://127.0.0.1:1/PASS@",
            "redis://me:PASS@h1,redis://me:PASS@h2",
            "redis-cluster://me:PASS@127.0.0.1:1,127.0.0.1:2",
            "redis://127.0.0.1:1?password=PASS",
            "redis://127.0.0.1:1/0?timeout=5s&auth=PASS",
            "redis://127.0.0.1:1#me:PASS@",
            "REDIS://me:PASS@127.0.0.1:1/x",
            "rediss://me:PASS@127.0.0.1:1?cacert=/none",
            "redis-sentinel://:PASS@127.0.0.1:1,127.0.0.1:2/master",
            "quorum:redis://:PASS@a,redis://:PASS@b",
            "zk://me:PASS@?timeout=100ms", // with some passwords one of a host that is not there
            "zk://me:PASS@127.0.0.1:99999?timeout=100ms",
            "zk://me:PASS@127.0.0.1:1/a//b",
            "zk:me:PASS@127.0.0.1:1",
            "zk://127.0.0.1:1?password=PASS",
            "zk://me:PASS@127.0.0.1:1,me:PASS@127.0.0.1:2?timeout=100ms",
            "zk://me:PASS@127.0.0.1:1?session=0",
            "etcd://me:PASS@127.0.0.1:1?timeout=1s",
            "memcached://me:PASS@127.0.0.1:1?timeout=1s",
            "memcached:me:PASS@127.0.0.1:1",
            "memcached://127.0.0.1:1?password=PASS",
            "etcd://me:PASS@127.0.0.1:99999",
            "etcd:me:PASS@127.0.0.1:1",
            "etcds://me:PASS@127.0.0.1:1?cacert=/none",
            "etcd://127.0.0.1:1?password=PASS",
            "jdbc:postgresql:/127.0.0.1:1/db?user=me&password=PASS",
            "jdbc:postgresql//127.0.0.1:1/db?user=me&password=PASS",
            "jdbc:postgresql://me:PASS@127.0.0.1:1/db",
            "jdbc:postgresql://127.0.0.1:1,127.0.0.1:2/db?password=PASS",
            "jdbc:postgresql://me:PASS@127.0.0.1:1,me:PASS@127.0.0.1:2/db",
            "jdbc:postgresql://127.0.0.1:1/db?password=PASS?x",
            "jdbc:postgresql://127.0.0.1:1/db?sslpassword=PASS&sslmode=x",
            "jdbc:postgresql:me:PASS",
            "jdbc:mariadb://me:PASS@127.0.0.1:1/db",
            "jdbc:mariadb://me:PASS@127.0.0.1/db",
            "jdbc:mysql://me:PASS@127.0.0.1/db",
            "jdbc:mariadb:sequential://me:PASS@127.0.0.1:1/db",
            "jdbc:mariadb://address=(host=127.0.0.1)(port=1)(user=me)(password=PASS)/db",
            "jdbc:mariadb:127.0.0.1:1/db?password=PASS",
            "jdbc:mysql://127.0.0.1:1/db?user=me&password=PASS;x",
            "jdbc:h2:tcp://127.0.0.1:1/./x;USER=me;PASSWORD=PASS",
            "jdbc:h2:mem:x;PASSWORD=PASS;NOSUCH=1",
            "jdbc:h2:mem:x;PASSWORD=x;PASS=PASS",
            "jdbc:h2;PASSWORD=PASS",
            "jdbc:oracle:thin:me/PASS@127.0.0.1:1",
            "postgres://me:PASS@127.0.0.1:1/db",
            "gopher://me:PASS@127.0.0.1",
            "me:PASS@127.0.0.1:1",
            "sqlite://me:PASS@127.0.0.1/locks.db",
            "sqlite:locks.db?password=PASS",
            "mem:PASS",
            "://me:PASS@127.0.0.1");

    private static final List<String> URLS_OF_THE_ENVIRONMENT = List.of(
            "jdbc:postgresql:/127.0.0.1:1/db?user=me&password=S3CRETX",
            "jdbc:postgresql://me:S3CRETX@127.0.0.1:1,127.0.0.1:2/db",
            "redis://:my S3CRETX@127.0.0.1:1",
            "zk://me:S3CRETX@127.0.0.1:1/a//b");

    @TempDir
    Path folder;

    /** Each URL with one of the passwords, each password with some of the URLs; the stores' own tests have each with each. */
    @Test
    void noCommandShowsTheSecretOfAMalformedUrl() throws IOException {
        List<String> urls = new ArrayList<>();
        for (int i = 0; i < URLS.size(); i++) {
            urls.add(URLS.get(i).replace("PASS", PASSWORDS.get(i % PASSWORDS.size())));
        }
        assertNoCommandShowsASecretOf(urls);
    }

    /** Drivers read it as a port, and say so; of this form even a plain secret. */
    @Test
    void noCommandShowsAPlainSecretBeforeTheHost() throws IOException {
        assertNoCommandShowsASecretOf(Stream.of("mariadb", "mysql", "postgresql")
                .map(database -> "jdbc:" + database + "://me:" + MARK + "@host/db")
                .toList());
    }

    private void assertNoCommandShowsASecretOf(List<String> urls) throws IOException {
        Files.write(folder.resolve("urls"), urls);
        try (ChildProcess all = ChildJvm.main(EveryCommand.class)
                .flags("-Dh2.socketConnectRetry=0") // its driver would try for a second and a half, for each command
                .args("urls")
                .directory(folder)
                .environment("HOME", folder.toString())
                .withoutEnvironment("JAVA_TOOL_OPTIONS")
                .start()) {
            assertThat(all.waitFor(LONG)).as(all.story()).isZero();
            assertThat(leaks(all.lines())).isEmpty();
            assertThat(all.stderr().lines())
                    .hasSizeGreaterThan(urls.size())
                    .noneMatch(line -> line.contains(MARK))
                    .noneMatch(line -> line.contains("internal error"));
        }
    }

    /** Each line of stdout with a secret in it, with what was being run. */
    private static List<String> leaks(List<String> lines) {
        List<String> leaks = new ArrayList<>();
        String running = "";
        for (String line : lines) {
            if (line.startsWith(EveryCommand.BEGIN)) {
                running = line;
            } else if (line.contains(MARK)) {
                leaks.add(running + ": " + line);
            }
        }
        return leaks;
    }

    @Test
    void theScriptShowsNoSecretOfTheStoreInTheEnvironment() {
        for (String url : URLS_OF_THE_ENVIRONMENT) {
            assertShowsNoSecret("list", url);
        }
    }

    @Test
    @Tag("thorough")
    void theDemoByTheScriptShowsNoSecretOfTheStoreInTheEnvironment() {
        for (String url : URLS_OF_THE_ENVIRONMENT) {
            assertShowsNoSecret("demo", url);
        }
    }

    private void assertShowsNoSecret(String command, String url) {
        Cli.Ended ended = Cli.end(new Cli(folder, url).script("-v", command).start());

        assertThat(ended.code()).isIn(ExitCode.USAGE, ExitCode.STORE_UNAVAILABLE);
        assertThat(ended.err()).isNotEmpty().noneMatch(line -> line.contains(MARK));
        assertThat(ended.out()).noneMatch(line -> line.contains(MARK));
    }

    @Test
    void driversLogNothingUnlessTheCauseIsAskedFor() {
        Cli cli = new Cli(folder, "jdbc:postgresql:/127.0.0.1:1/db?password=S3CRETX");

        assertThat(cli.run("list").err()).hasSize(1);
        assertThat(cli.run("-v", "list").err())
                .hasSizeGreaterThan(1)
                .allMatch(line -> line.matches("(holdfast: |  ).*"));
    }

    @Test
    void theAdviceIsShownWhole() {
        assertThat(new Cli(folder, "redis://:my S3CRETX@127.0.0.1:1")
                        .run("list")
                        .err())
                .singleElement()
                .asString()
                .contains("bad store URL 'redis:…' in HOLDFAST_STORE", "rediss://user:password@host:6379/0", "%40");
        assertThat(new Cli(folder, "zk://a@b@c").run("list").err())
                .singleElement()
                .asString()
                .contains("zk://user:password@host:2181/chroot?session=15s");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ' ',
            value = {
                "redis://me:s3cret@host:1/0?timeout=5s redis://host:1/0",
                "redis://[::1]:1 redis://[::1]:1",
                "redis://me:s3cret@host:1,me:s3cret@other redis:…",
                "redis-cluster://me:s3cret@h1:7000,h2:7000 redis-cluster://h1:7000,h2:7000",
                "quorum:redis://me:s3cret@h1:1,redis://h2,redis://:s3cret@h3/2?timeout=1s quorum:redis://h1:1,redis://h2,redis://h3/2",
                "quorum:redis://me:s3cret@h1,redis://me:12,s3cret@h2,redis://h3 quorum:…",
                "rediss-sentinel://:s3cret@h1,h2/master?acks=1 rediss-sentinel://h1,h2/master",
                "zk://h1:1,h2:2,h3/chroot?session=15s zk://h1:1,h2:2,h3/chroot",
                "etcds://me:s3cret@h1:1,h2/app?timeout=1s etcds://h1:1,h2/app",
                "memcached://h1:1,h2?timeout=1s memcached://h1:1,h2",
                "jdbc:postgresql://h1,h2:5432/db?password=s3cret jdbc:postgresql://h1,h2:5432/db",
                "jdbc:postgresql://me:s3cret@h1,h2:5432/db?x=y jdbc:postgresql:…",
                "jdbc:postgresql:/h1/db?password=s3cret jdbc:postgresql:…",
                "jdbc:mariadb://address=(host=h)(password=s3cret)/db jdbc:mariadb:…",
                "jdbc:h2:tcp://host/./db;PASSWORD=s3cret jdbc:h2:tcp://host/./db",
                "jdbc:h2:/var/lib/db;PASSWORD=s3cret jdbc:h2:/var/lib/db",
                "sqlite:/var/lib/locks.db sqlite:/var/lib/locks.db",
                "sqlite:/home/me@corp/locks.db sqlite:/home/me@corp/locks.db",
                "sqlite:me:s3cret@host sqlite:…",
                "gopher://host …",
                "s3cret …",
            })
    void aUrlOfAnUnknownFormShowsNothingButItsScheme(String url, String shown) {
        assertThat(SafeUrl.shown(url)).isEqualTo(shown);
    }
}
