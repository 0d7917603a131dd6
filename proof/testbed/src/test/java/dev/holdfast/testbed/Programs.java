package dev.holdfast.testbed;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.ServerSocket;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/** The programs that the tests start in JVMs of their own. */
final class Programs {
    private Programs() {}

    /** Prints its arguments and then every line it reads; "fail" is answered on standard error and ends it with 3. */
    static final class Echo {
        public static void main(String[] args) throws IOException {
            System.out.println("args " + List.of(args));
            System.out.println("greeting " + System.getenv("GREETING") + ", colour " + System.getProperty("colour"));
            BufferedReader in = new BufferedReader(new InputStreamReader(System.in, UTF_8));
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                if (line.equals("fail")) {
                    System.err.println("failing as told");
                    System.exit(3);
                }
                System.out.println("echo " + line);
            }
        }
    }

    /** Prints many lines to both outputs at once, and ends. */
    static final class Chatter {
        static final int LINES = 50_000;

        public static void main(String[] args) throws InterruptedException {
            Thread errors = new Thread(() -> chat(System.err));
            errors.start();
            chat(System.out);
            errors.join();
        }

        private static void chat(PrintStream to) {
            for (int i = 0; i < LINES; i++) {
                to.println("line " + i + " of a program that has a lot to say");
            }
        }
    }

    /** Counts up in a mapped file, with several threads, each in its own place, until it is killed. */
    static final class Counter {
        static final int THREADS = 4;

        public static void main(String[] args) throws IOException {
            MappedByteBuffer counts = open(Path.of(args[0]));
            for (int i = 0; i < THREADS; i++) {
                int place = i * Long.BYTES;
                new Thread(() -> count(counts, place)).start();
            }
        }

        static MappedByteBuffer open(Path file) throws IOException {
            try (FileChannel channel = FileChannel.open(
                    file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
                return channel.map(FileChannel.MapMode.READ_WRITE, 0, THREADS * Long.BYTES);
            }
        }

        private static void count(MappedByteBuffer counts, int place) {
            while (true) {
                counts.putLong(place, counts.getLong(place) + 1);
                LockSupport.parkNanos(100_000);
            }
        }
    }

    /** Listens on the port it is told, on which nobody is served. */
    static final class Listener {
        public static void main(String[] args) throws IOException {
            try (ServerSocket server = new ServerSocket()) {
                server.bind(Loopback.port(Integer.parseInt(args[0])));
                while (true) {
                    server.accept().close();
                }
            }
        }
    }

    /** Opens and closes the first socket of its JVM, and looks for what that left. */
    static final class FirstSocket {
        public static void main(String[] args) throws IOException {
            Residue residue = Residue.watch().openFiles().begin();
            try (ServerSocket server = new ServerSocket()) {
                server.bind(Loopback.port(0));
            }
            residue.assertNothingLeft(Duration.ofMillis(100));
            System.out.println("nothing left");
        }
    }

    /** Starts a process of its own, tells its id, and exits when told to, leaving the process to the shutdown hook. */
    static final class Parent {
        public static void main(String[] args) throws IOException {
            ChildProcess child = ChildProcess.command("sleep", "300").start();
            System.out.println("child " + child.pid());
            ServerProcess server = ServerProcess.named("sleeper")
                    .command(home -> List.of("sh", "-c", "echo up; exec sleep 300"))
                    .readyWhenLogContains("up")
                    .patience(Duration.ofSeconds(20))
                    .start();
            System.out.println("server " + server.pid() + " " + server.home().folder());
            System.in.read();
            System.exit(0);
        }
    }
}
