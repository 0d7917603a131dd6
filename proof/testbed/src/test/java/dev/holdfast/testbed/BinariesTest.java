package dev.holdfast.testbed;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BinariesTest {
    private static final RedisInJar NO_JAR = new RedisInJar("Linux", "amd64", new ClassLoader(null) {});

    @TempDir
    private Path first;

    @TempDir
    private Path second;

    private String path;

    @BeforeEach
    void joinThePath() {
        path = first + File.pathSeparator + second;
    }

    @Test
    void thePropertyWinsOverThePath() throws IOException {
        Path chosen = program(second, "chosen");
        program(first, "etcd");
        Binaries binaries = binaries(Map.of("holdfast.server.etcd", chosen.toString()), NO_JAR);
        assertThat(binaries.find("etcd", "how")).isEqualTo(chosen);
    }

    @Test
    void aPropertyThatPointsToNothingIsNotPassedOver() throws IOException {
        program(first, "etcd");
        Binaries binaries = binaries(Map.of("holdfast.server.etcd", "/nowhere/etcd"), NO_JAR);
        assertThatThrownBy(() -> binaries.find("etcd", "how"))
                .isInstanceOf(ServerMissingException.class)
                .hasMessageContaining("/nowhere/etcd")
                .hasMessageContaining("holdfast.server.etcd");
    }

    @Test
    void theFirstFolderOfThePathThatHasARunnableOneWins() throws IOException {
        Files.createFile(first.resolve("etcd"));
        Path runnable = program(second, "etcd");
        assertThat(binaries(Map.of(), NO_JAR).find("etcd", "how")).isEqualTo(runnable);
    }

    @Test
    void aMissingServerIsNamedWithTheWayToGetIt() {
        assertThatThrownBy(() -> binaries(Map.of(), NO_JAR).find("etcd", "apt-get install etcd-server"))
                .isInstanceOf(ServerMissingException.class)
                .hasMessageContaining("etcd is missing")
                .hasMessageContaining(first.toString())
                .hasMessageContaining("apt-get install etcd-server");
    }

    @Test
    void aServerThatNoArtefactCarriesIsNoFailureEvenInCi() {
        assertThatThrownBy(() -> binaries(Map.of(), NO_JAR).findInstalled("mariadbd", "apt-get install mariadb-server"))
                .isInstanceOfSatisfying(
                        ServerMissingException.class,
                        missing -> assertThat(missing.isFailure()).isFalse());
    }

    @Test
    void redisOnThePathWinsOverTheJar() throws IOException {
        Path installed = program(first, "redis-server");
        assertThat(binaries(Map.of(), RedisInJar.OF_THIS_JVM).redisServer()).isEqualTo(installed);
    }

    @Test
    void redisIsTakenOutOfTheJarOnceAndRuns() {
        Path program = binaries(Map.of(), RedisInJar.OF_THIS_JVM).redisServer();
        assertThat(binaries(Map.of(), RedisInJar.OF_THIS_JVM).redisServer()).isEqualTo(program);
        try (ChildProcess version =
                ChildProcess.command(program.toString(), "--version").start()) {
            version.expect("Redis server v=7", Duration.ofSeconds(20));
        }
    }

    @Test
    void withoutTheJarRedisIsMissing() {
        assertThatThrownBy(() -> binaries(Map.of(), NO_JAR).redisServer())
                .isInstanceOf(ServerMissingException.class)
                .hasMessageContaining("org.signal:embedded-redis")
                .hasMessageContaining("redis-server-7.0.15-linux-amd64");
    }

    @Test
    void theResourceInTheJarIsNamedByTheSystemAndTheProcessor() {
        assertThat(new RedisInJar("Linux", "aarch64", null))
                .hasToString("redis-server-7.0.15-linux-arm64 on the class path");
        assertThat(new RedisInJar("Mac OS X", "x86_64", null))
                .hasToString("redis-server-7.0.15-darwin-amd64 on the class path");
        assertThat(new RedisInJar("Linux", "i386", null))
                .hasToString("redis-server-7.0.15-linux-386 on the class path");
    }

    private Binaries binaries(Map<String, String> properties, RedisInJar jar) {
        return new Binaries(properties::get, path, jar);
    }

    private static Path program(Path folder, String name) throws IOException {
        Path file = Files.createFile(folder.resolve(name));
        assertThat(file.toFile().setExecutable(true)).isTrue();
        return file;
    }
}
