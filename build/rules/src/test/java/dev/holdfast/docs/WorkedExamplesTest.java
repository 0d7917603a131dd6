package dev.holdfast.docs;

import static dev.holdfast.testbed.OrSkip.orSkip;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.LockClient;
import dev.holdfast.LockStatus;
import dev.holdfast.testbed.ChildProcess;
import dev.holdfast.testbed.Ports;
import dev.holdfast.testbed.PostgresServer;
import dev.holdfast.testbed.RedisServer;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The examples as newcomers meet them: the artifacts are installed by the command of the page, from a copy of the
 * sources; each folder is copied to another place, and built and run there by the commands of its README. The local
 * repository is a temporary one, into which what was downloaded before is linked. {@code -Dholdfast.release=FOLDER} takes
 * the artifacts that {@code ./dev release} made in that folder instead, and nothing else of Holdfast. By its name it begins
 * before shorter tests, as it takes longest.
 */
@Tag("thorough")
@Timeout(value = 10, unit = TimeUnit.MINUTES)
class WorkedExamplesTest {
    private static final Path ROOT = PagesTest.projectRoot().toAbsolutePath().normalize();
    private static final Duration LONG = Duration.ofMinutes(8);
    private static final Duration PATIENCE = Duration.ofMinutes(2);
    private static final String HOLDING = "holding, token ";
    private static final Pattern REFUSED = Pattern.compile("^(StaleTokenException|HoldLostException): ");
    /** What some builds of Maven print although they are told not to. */
    private static final Pattern STYLE = Pattern.compile("\u001B\\[[;\\d]*m");

    private static final Pattern INSTALL = Pattern.compile("^mvn .* install$", Pattern.MULTILINE);
    private static final Pattern ARTIFACT = Pattern.compile("<artifactId>(holdfast-[a-z-]+)</artifactId>");

    @TempDir
    private static Path shared;

    private static Path repository;

    @TempDir
    private Path folder;

    @BeforeAll
    @Timeout(value = 10, unit = TimeUnit.MINUTES)
    static void install() throws IOException {
        repository = shared.resolve("repository");
        Path downloaded =
                Path.of(System.getProperty("localRepository", System.getProperty("user.home") + "/.m2/repository"));
        link(downloaded, repository, "dev");
        link(downloaded.resolve("dev"), repository.resolve("dev"), "holdfast");

        String release = System.getProperty("holdfast.release");
        if (release != null) {
            copy(Path.of(release, "dev/holdfast"), repository.resolve("dev/holdfast"));
            return;
        }
        Path clone = copy(ROOT, shared.resolve("clone"));
        MatchResult command = INSTALL.matcher(Files.readString(ROOT.resolve("docs/install.md")))
                .results()
                .findFirst()
                .orElseThrow();
        succeed(maven(clone, command.group()));
    }

    private static void link(Path from, Path to, String without) throws IOException {
        Files.createDirectories(to);
        if (Files.isDirectory(from)) {
            try (Stream<Path> entries = Files.list(from)) {
                for (Path entry : (Iterable<Path>) entries::iterator) {
                    Path name = entry.getFileName();
                    if (!name.toString().equals(without)) {
                        Files.createSymbolicLink(to.resolve(name), entry);
                    }
                }
            }
        }
    }

    /** Before the folder is deleted: nothing may follow a link out of it. */
    @AfterAll
    static void unlink() throws IOException {
        for (Path links : List.of(repository, repository.resolve("dev"))) {
            try (Stream<Path> entries = Files.list(links)) {
                for (Path entry : (Iterable<Path>) entries::iterator) {
                    if (Files.isSymbolicLink(entry)) {
                        Files.delete(entry);
                    }
                }
            }
        }
    }

    private static Path copy(Path from, Path to) {
        succeed(ChildProcess.command(
                "sh",
                "-c",
                "mkdir -p '%2$s' && tar -C '%1$s' --exclude=target --exclude=.git -cf - . | tar -C '%2$s' -xf -"
                        .formatted(from, to)));
        return to;
    }

    @Test
    void oneCommandInstallsEverythingThatIsPublished() throws IOException {
        List<String> published = ARTIFACT.matcher(Files.readString(ROOT.resolve("build/bom/pom.xml")))
                .results()
                .map(MatchResult::group)
                .map(element -> element.replaceAll("</?artifactId>", ""))
                .toList();

        try (Stream<Path> installed = Files.list(repository.resolve("dev/holdfast"))) {
            assertThat(installed.map(artifact -> artifact.getFileName().toString()))
                    .containsAll(published);
        }
    }

    @Test
    void onRedisTwoProcessesTakeTurnsAndOneThatWasStoppedIsRefused() throws IOException {
        Path project = example("redis");
        succeed(maven(project, said(project, "mvn -q compile")));
        try (RedisServer server = orSkip(RedisServer::start)) {
            ChildProcess.Builder worker =
                    maven(project, said(project, "mvn -q exec:java")).environment("HOLDFAST_STORE", server.uri());
            try (ChildProcess one = worker.start();
                    ChildProcess other = worker.start()) {
                takeTurnsAndRefuseTheOneThatWasStopped(server, one, other);
            }
        }
    }

    private static void takeTurnsAndRefuseTheOneThatWasStopped(
            RedisServer server, ChildProcess one, ChildProcess other) {
        one.expect(HOLDING, PATIENCE);
        other.expect(HOLDING, PATIENCE);
        long stopped = stopTheOneWhileItHolds(server, one);

        other.expect(line -> token(line) > stopped, PATIENCE);
        other.expect(HOLDING, PATIENCE); // its turn before is written
        one.cont();

        Set<String> heard = new HashSet<>(); // on two threads: either may be first
        one.expect(
                line -> {
                    if (line.startsWith("notified: ")) {
                        heard.add("the loss");
                    } else if (REFUSED.matcher(line).find()) {
                        heard.add("the refusal");
                    }
                    return heard.size() == 2;
                },
                PATIENCE);
        one.expect(HOLDING, PATIENCE);
    }

    /** It works for a second of each turn, and may be between two turns when the signal arrives: then it goes on. */
    private static long stopTheOneWhileItHolds(RedisServer server, ChildProcess one) {
        try (LockClient client = LockClient.connect(server.uri())) {
            while (true) {
                one.expect(HOLDING, PATIENCE);
                one.stop();
                Optional<LockStatus.Held> held =
                        client.lock("order:42").status().grant();
                if (held.isPresent() && held.get().holder().pid() == one.pid()) {
                    return held.get().token();
                }
                one.cont();
            }
        }
    }

    private static long token(String line) {
        return line.startsWith(HOLDING) ? Long.parseLong(line.substring(HOLDING.length())) : 0;
    }

    @Test
    void twoServersOfSpringBootLoseNoWithdrawalAndWriteOneReport() throws Exception {
        Path project = example("spring-boot");
        try (PostgresServer server = orSkip(PostgresServer::start)) {
            int port = Ports.free();
            succeed(maven(project, said(project, "mvn -q test"))
                    .environment("SPRING_DATASOURCE_URL", server.jdbcUrl()));
            try (ChildProcess running = maven(project, said(project, "mvn -q spring-boot:run"))
                    .environment("SPRING_DATASOURCE_URL", server.jdbcUrl())
                    .environment("SERVER_ADDRESS", "127.0.0.1")
                    .environment("SERVER_PORT", Integer.toString(port))
                    .start()) {
                running.expect(line -> line.contains("Started BankApplication"), PATIENCE);
                URI withdrawal = URI.create("http://127.0.0.1:" + port + "/accounts/1/withdraw/0");
                assertThat(HttpClient.newHttpClient()
                                .send(
                                        HttpRequest.newBuilder(withdrawal)
                                                .POST(HttpRequest.BodyPublishers.noBody())
                                                .build(),
                                        BodyHandlers.ofString())
                                .statusCode())
                        .isEqualTo(200);
            }
        }
        assertThat(tests(project)).isEqualTo(3);
    }

    @Test
    void coroutinesOfTwoServersSellEachTicketOnce() throws IOException {
        Path project = example("kotlin");
        succeed(maven(project, said(project, "mvn -q test")));
        assertThat(tests(project)).isEqualTo(3);
        try (RedisServer server = orSkip(RedisServer::start)) {
            assertThat(succeed(maven(project, said(project, "mvn -q compile exec:java"))
                            .environment("HOLDFAST_STORE", server.uri())))
                    .contains("100 buyers, 30 tickets: sold 30");
        }
    }

    @Test
    void twoHostsWithOneCrontabRunEachJobOnce() throws IOException {
        Path project = example("cron");
        try (RedisServer server = orSkip(RedisServer::start)) {
            List<String> lines = succeed(ChildProcess.command("sh", "-c", said(project, "./two-hosts.sh"))
                    .directory(project)
                    .environment("PATH", ROOT + ":" + System.getenv("PATH"))
                    .environment("HOLDFAST_STORE", server.uri()));
            assertThat(lines.get(lines.size() - 1))
                    .matches("2 minutes on 2 hosts: 1 report, [234] syncs, 0 of them .*");
        }
    }

    @Test
    void theTestFailsWithoutTheCheckOfTheToken() throws IOException {
        Path project = example("testing");
        succeed(maven(project, said(project, "mvn -q test")));
        assertThat(tests(project)).isEqualTo(4);

        Path printer = project.resolve("src/main/java/example/Printer.java");
        Files.writeString(printer, Files.readString(printer).replace("gate.check(token);", ""));
        try (ChildProcess without = maven(project, "mvn -q test").start()) {
            assertThat(without.waitFor(PATIENCE)).isOne();
            assertThat(without.story()).contains("aServerThatWasStoppedForLongerThanItsLeasePrintsNothing");
        }
    }

    @Test
    void oneStatementSellsAStockWithoutALock() throws IOException {
        Path project = example("stock");
        try (PostgresServer server = orSkip(PostgresServer::start)) {
            assertThat(succeed(maven(project, said(project, "mvn -q compile exec:java"))
                            .environment("DATABASE", server.jdbcUrl())))
                    .anyMatch(line -> line.matches("read, then write +sold \\d+ of 100: oversold"))
                    .anyMatch(line -> line.matches("one statement, no lock +sold 100 of 100"))
                    .anyMatch(line -> line.matches("under a lock +sold 100 of 100"));
        }
    }

    private Path example(String name) {
        return copy(ROOT.resolve("show/examples").resolve(name), folder.resolve(name));
    }

    /** A command of the README. */
    private static String said(Path project, String command) throws IOException {
        assertThat(Files.readString(project.resolve("README.md"))).containsPattern("(?m)^" + Pattern.quote(command));
        return command;
    }

    private static ChildProcess.Builder maven(Path project, String command) {
        return ChildProcess.command(command.split(" "))
                // not the compiler that Kotlin leaves running for hours
                .args("-B", "-ntp", "-Dmaven.repo.local=" + repository, "-Dkotlin.compiler.daemon=false")
                .environment("MAVEN_OPTS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC") // none of them runs for long
                .directory(project);
    }

    private static List<String> succeed(ChildProcess.Builder command) {
        try (ChildProcess process = command.start()) {
            assertThat(process.waitFor(LONG)).as(process.story()).isZero();
            return process.lines().stream()
                    .map(line -> STYLE.matcher(line).replaceAll(""))
                    .toList();
        }
    }

    /** How many tests its build has run. */
    private static long tests(Path project) throws IOException {
        long tests = 0;
        try (Stream<Path> reports = Files.list(project.resolve("target/surefire-reports"))) {
            for (Path report :
                    (Iterable<Path>) reports.filter(file -> file.toString().endsWith(".xml"))::iterator) {
                tests += Pattern.compile("<testcase ")
                        .matcher(Files.readString(report))
                        .results()
                        .count();
            }
        }
        return tests;
    }
}
