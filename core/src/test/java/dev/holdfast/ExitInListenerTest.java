package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.memory.MemoryStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A leader's listener calls {@link System#exit}, which never returns there, and a shutdown hook closes the client: the hook
 * does not wait for that listener, and leaves the lock to the next leader.
 */
@Timeout(120)
class ExitInListenerTest {
    private static final Duration LEASE = Duration.ofSeconds(30);

    @TempDir
    Path folder;

    /** Where the child JVM exits. */
    enum Scene {
        AT_THE_BEGINNING_OF_A_TERM("closed, revoked, free") {
            @Override
            Candidacy stand(LeaderElection election) {
                return election.stand(term -> System.exit(0), term -> revoked = true);
            }
        },
        AT_THE_END_OF_A_TERM("closed, free") {
            @Override
            Candidacy stand(LeaderElection election) {
                return election.stand(Term::resign, term -> System.exit(0));
            }
        },
        AT_BOTH("closed, free") {
            @Override
            Candidacy stand(LeaderElection election) {
                return election.stand(term -> System.exit(0), term -> System.exit(0));
            }
        },
        IN_ITS_WORK("closed, free") {
            @Override
            Candidacy stand(LeaderElection election) {
                return election.lead(term -> System.exit(0));
            }
        };

        private static volatile boolean revoked;
        private final String said;

        Scene(String said) {
            this.said = said;
        }

        abstract Candidacy stand(LeaderElection election);

        void play() {
            MemoryStore memory = new MemoryStore();
            LockClient client = LockClient.builder(memory.open()).build();
            LockClient other = LockClient.builder(memory.open()).build();
            Runtime.getRuntime().addShutdownHook(new Thread(() -> {
                client.close();
                boolean free = other.lock("e").tryAcquire().isPresent();
                System.out.println("closed" + (revoked ? ", revoked" : "") + (free ? ", free" : ""));
            }));
            Candidacy unused = stand(client.election("e", HoldOptions.defaults().lease(LEASE)));
        }
    }

    /** The child JVM. */
    static final class Child {
        private Child() {}

        public static void main(String[] arguments) throws InterruptedException {
            Scene.valueOf(arguments[0]).play();
            Thread.currentThread().join(); // until the listener exits
        }
    }

    @ParameterizedTest
    @EnumSource(names = "AT_BOTH")
    void theHookThatClosesDoesNotWaitForIt(Scene scene) throws IOException, InterruptedException {
        play(scene);
    }

    @ParameterizedTest
    @Tag("thorough")
    @EnumSource(names = "AT_BOTH", mode = EnumSource.Mode.EXCLUDE)
    void norWhereItExitsElsewhere(Scene scene) throws IOException, InterruptedException {
        play(scene);
    }

    private void play(Scene scene) throws IOException, InterruptedException {
        Path output = folder.resolve("output");
        Process child = new ProcessBuilder(List.of(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        System.getProperty("java.class.path"),
                        Child.class.getName(),
                        scene.name()))
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        try {
            assertThat(child.waitFor(LEASE.multipliedBy(4).dividedBy(5).toSeconds(), TimeUnit.SECONDS))
                    .as("it ends well before the lease")
                    .isTrue();
        } finally {
            child.destroyForcibly();
        }
        assertThat(Files.readString(output).strip()).isEqualTo(scene.said);
    }
}
