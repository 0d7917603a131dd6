package dev.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.DistributedLock;
import dev.holdfast.Hold;
import dev.holdfast.HoldOptions;
import dev.holdfast.LockClient;
import dev.holdfast.testbed.RedisServer;
import dev.holdfast.testbed.Walk;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * How long the way of a free claim is, from {@code acquire()} to the hold: the limits may only fall, but for the mend
 * of a fault (each reading of a clock is a hop since it also counts sleeps). To see the way:
 * {@code mvn -Dquick -pl stores/redis -am test -Dtest=ClaimWalkTest -Dsurefire.failIfNoSpecifiedTests=false}, and then
 * {@code stores/redis/target/quick/surefire-reports/dev.holdfast.redis.ClaimWalkTest-output.txt}.
 */
@Tag("thorough")
class ClaimWalkTest {
    private static final int WARM = 20;

    @Test
    void aFreeClaimTakesFewHops() {
        try (RedisServer redis = RedisServer.start()) {
            Walk walk = Walk.of(FreeClaim.class, redis.uri());

            System.out.println(walk.hops() + " hops into " + walk.classes().size() + " classes, " + walk.futures()
                    + " futures\n" + walk.classes() + "\n" + walk);
            assertThat(walk.hops()).as("hops").isBetween(10, 109);
            assertThat(walk.classes()).as("classes").hasSizeBetween(10, 49);
            assertThat(walk.futures()).as("futures").isBetween(0, 5);
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
