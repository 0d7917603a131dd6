package dev.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.DistributedLock;
import dev.holdfast.Hold;
import dev.holdfast.HoldOptions;
import dev.holdfast.LockClient;
import dev.holdfast.testbed.RedisServer;
import dev.holdfast.testbed.Walk;
import java.util.Comparator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The length of a free claim's path, from {@code acquire()} to the hold. The limits may only fall, unless a fix needs more:
 * each clock reading is one hop longer since it also counts sleeps, and two are of what is sent again in its old order. To see
 * the way:
 * {@code mvn -Dquick -pl stores/redis -am test -Dtest=ClaimWalkTest -Dsurefire.failIfNoSpecifiedTests=false}, and then
 * {@code stores/redis/target/quick/surefire-reports/dev.holdfast.redis.ClaimWalkTest-output.txt}.
 */
@Tag("thorough")
class ClaimWalkTest {
    private static final int WARM = 20;
    /** On a busy machine, what belongs to the connection is done on the way of the claim now and then. */
    private static final int WALKS = 3;

    @Test
    void aFreeClaimTakesFewHops() {
        try (RedisServer redis = RedisServer.start()) {
            Walk walk = Stream.generate(() -> Walk.of(FreeClaim.class, redis.uri()))
                    .limit(WALKS)
                    .min(Comparator.comparingInt(Walk::hops))
                    .orElseThrow();

            System.out.println(walk.hops() + " hops into " + walk.classes().size() + " classes, " + walk.futures()
                    + " futures\n" + walk.classes() + "\n" + walk);
            assertThat(walk.hops()).as("hops").isBetween(10, 83);
            assertThat(walk.classes()).as("classes").hasSizeBetween(10, 39);
            assertThat(walk.futures()).as("futures").isZero();
        }
    }

    /** The program that is walked through. */
    static final class FreeClaim {
        public static void main(String[] arguments) {
            try (LockClient client = LockClient.connect(arguments[0])) {
                for (int i = 0; i < WARM; i++) {
                    client.lock("warm" + i, HoldOptions.defaults().awaitRelease(true))
                            .acquire()
                            .close();
                }
                DistributedLock lock = client.lock("walked");
                Walk.begin();
                Hold hold = lock.acquire();
                Walk.end();
                hold.close();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }
}
