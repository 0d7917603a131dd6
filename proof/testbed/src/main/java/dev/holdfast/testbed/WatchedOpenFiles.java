package dev.holdfast.testbed;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/** Open descriptors of this JVM, by what they point to; several of the same thing are counted. Linux only. */
final class WatchedOpenFiles implements Watched {
    private static final Path DESCRIPTORS = Path.of("/proc/self/fd");

    private static final String JAVA_HOME = System.getProperty("java.home");

    WatchedOpenFiles() {
        openWhatTheJdkKeeps();
    }

    static boolean available() {
        return Files.isDirectory(DESCRIPTORS);
    }

    @Override
    public String name() {
        return "open file";
    }

    @Override
    public Map<String, String> present() {
        Map<String, Integer> counts = new HashMap<>();
        try (DirectoryStream<Path> descriptors = Files.newDirectoryStream(DESCRIPTORS)) {
            for (Path descriptor : descriptors) {
                count(descriptor, counts);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read " + DESCRIPTORS, e);
        }
        Map<String, String> present = new HashMap<>();
        counts.forEach((target, count) -> {
            for (int i = 1; i <= count; i++) {
                present.put(target + " #" + i, i == 1 ? target : target + ", " + i + " times");
            }
        });
        return present;
    }

    private static void count(Path descriptor, Map<String, Integer> counts) {
        try {
            String target = Files.readSymbolicLink(descriptor).toString();
            if (!isOfTheJvm(target)) {
                counts.merge(target, 1, Integer::sum);
            }
        } catch (IOException e) {
            // Closed since it was listed, as the one that listed it is: not open, so not left.
        }
    }

    private static boolean isOfTheJvm(String target) {
        return target.endsWith(".jar")
                || target.startsWith(JAVA_HOME)
                || target.startsWith("/proc/")
                || (target.startsWith("/dev/") && !target.startsWith("/dev/shm/"))
                || target.startsWith("/sys/");
    }

    /** The first socket makes the JDK open one of its own, which stays: it would look like a leak of the test. */
    private static void openWhatTheJdkKeeps() {
        try (ServerSocket server = new ServerSocket();
                Socket client = new Socket()) {
            server.bind(Loopback.port(0));
            client.connect(server.getLocalSocketAddress());
            server.accept().close();
        } catch (IOException e) {
            throw new UncheckedIOException("cannot open a socket on 127.0.0.1", e);
        }
    }
}
