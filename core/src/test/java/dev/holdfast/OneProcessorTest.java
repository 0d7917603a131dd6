package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.memory.MemoryStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Futures of a client with the default executor, in a JVM whose common pool has one thread or none: no blocked thread of
 * the application keeps an outcome from its caller.
 */
@Timeout(120)
@Tag("thorough")
class OneProcessorTest {
    private static final int BLOCKED = 40;
    private static final int LONGEST_SECONDS = 20;

    @TempDir
    Path folder;

    /** The work of the child JVM, which ends when the last caller has its outcome. */
    enum Scene {
        FREE_LOCK {
            @Override
            void play(LockClient client) throws Exception {
                served(client, "free");
            }
        },
        OTHER_CALLBACKS_BLOCK {
            @Override
            void play(LockClient client) throws Exception {
                CountDownLatch all = new CountDownLatch(BLOCKED);
                for (int i = 0; i < BLOCKED; i++) {
                    callBack(client, "blocked-" + i, hold -> {
                        all.countDown();
                        block();
                    });
                }
                begun(all);
                served(client, "free");
            }
        },
        A_CALLBACK_BLOCKS_AT_THE_HAND_OVER {
            @Override
            void play(LockClient client) throws Exception {
                CountDownLatch begun = new CountDownLatch(1);
                callBack(client, "blocked", hold -> {
                    begun.countDown();
                    block();
                });
                begun(begun);
                Hold first = client.lock("a").acquire();
                CompletableFuture<Hold> next = client.lock("a").acquireAsync();
                first.close();
                next.get(LONGEST_SECONDS, TimeUnit.SECONDS).close();
            }
        },
        CALLBACKS_WAIT_FOR_FUTURES_WITHIN_EACH_OTHER {
            @Override
            void play(LockClient client) throws Exception {
                nested(client, BLOCKED).get(LONGEST_SECONDS, TimeUnit.SECONDS);
            }

            private CompletableFuture<Void> nested(LockClient client, int depth) {
                return client.lock("level-" + depth).acquireAsync().thenAccept(hold -> {
                    if (depth > 0) {
                        nested(client, depth - 1).join();
                    }
                    hold.close();
                });
            }
        },
        THE_COMMON_POOL_IS_BLOCKED {
            @Override
            void play(LockClient client) throws Exception {
                for (int i = 0; i < BLOCKED; i++) {
                    ForkJoinPool.commonPool().execute(Scene::block);
                }
                served(client, "free");
            }
        },
        PARALLEL_STREAMS_BLOCK {
            @Override
            void play(LockClient client) throws Exception {
                CountDownLatch begun = new CountDownLatch(1);
                daemon(() -> IntStream.range(0, BLOCKED).parallel().forEach(i -> {
                    begun.countDown();
                    block();
                }));
                begun(begun);
                served(client, "free");
            }
        },
        SEVERAL_LOCKS_TOGETHER {
            @Override
            void play(LockClient client) throws Exception {
                OTHER_CALLBACKS_BLOCK.play(client);
                client.multiLock(List.of("a", "b", "c"))
                        .acquireAsync()
                        .get(LONGEST_SECONDS, TimeUnit.SECONDS)
                        .close();
            }
        },
        VIRTUAL_THREADS_COMPUTE {
            @Override
            void play(LockClient client) throws Exception {
                if (Runtime.version().feature() >= 21) {
                    CountDownLatch begun = new CountDownLatch(1);
                    Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, (Runnable) () -> {
                        begun.countDown();
                        compute();
                    });
                    begun(begun);
                }
                served(client, "free");
            }
        };

        abstract void play(LockClient client) throws Exception;

        static void served(LockClient client, String name) throws Exception {
            client.lock(name)
                    .acquireAsync()
                    .get(LONGEST_SECONDS, TimeUnit.SECONDS)
                    .close();
        }

        /** The callback is there before the lock is free. */
        static void callBack(LockClient client, String name, Consumer<Hold> callback) throws InterruptedException {
            Hold first = client.lock(name).acquire();
            CompletableFuture<Void> unused = client.lock(name).acquireAsync().thenAccept(callback);
            first.close();
        }

        static void begun(CountDownLatch callbacks) throws Exception {
            if (!callbacks.await(LONGEST_SECONDS, TimeUnit.SECONDS)) {
                throw new TimeoutException();
            }
        }

        static void block() {
            try {
                new CountDownLatch(1).await();
            } catch (InterruptedException end) {
                Thread.currentThread().interrupt();
            }
        }

        static void compute() {
            while (true) {
                Thread.onSpinWait();
            }
        }

        static void daemon(Runnable task) {
            Thread thread = new Thread(task);
            thread.setDaemon(true);
            thread.start();
        }
    }

    /** The child JVM. */
    static final class Child {
        private Child() {}

        public static void main(String[] arguments) throws Exception {
            try {
                Scene.valueOf(arguments[0])
                        .play(LockClient.builder(new MemoryStore().open()).build());
                System.out.println("served");
            } catch (TimeoutException never) {
                System.out.println("nobody was told");
            }
            Runtime.getRuntime().halt(0);
        }
    }

    @ParameterizedTest
    @EnumSource(Scene.class)
    void onOneProcessor(Scene scene) throws Exception {
        assertThat(played(scene, "-XX:ActiveProcessorCount=1")).isEqualTo("served");
    }

    @ParameterizedTest
    @EnumSource(Scene.class)
    void withACommonPoolWithoutThreads(Scene scene) throws Exception {
        assertThat(played(
                        scene,
                        "-XX:ActiveProcessorCount=1",
                        "-Djava.util.concurrent.ForkJoinPool.common.parallelism=0"))
                .isEqualTo("served");
    }

    private String played(Scene scene, String... flags) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.add("-XX:TieredStopAtLevel=1");
        command.addAll(List.of(flags));
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), Child.class.getName(), scene.name()));
        Path output = folder.resolve("output");
        Process child = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        try {
            assertThat(child.waitFor(2 * LONGEST_SECONDS, TimeUnit.SECONDS)).isTrue();
        } finally {
            child.destroyForcibly();
        }
        return Files.readString(output).strip();
    }
}
