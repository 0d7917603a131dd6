package dev.holdfast.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.ClientClosedException;
import dev.holdfast.LockClient;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(HoldfastExtension.class)
class HoldfastExtensionTest {
    private static final List<LockClient> SEEN = new ArrayList<>();

    private TestLocks before;

    @BeforeEach
    void prepare(TestLocks locks) {
        before = locks;
    }

    @AfterAll
    static void eachTestHadAClientOfItsOwnThatWasClosed() {
        assertThat(SEEN).doesNotHaveDuplicates().isNotEmpty();
        for (LockClient client : SEEN) {
            assertThatThrownBy(() -> client.lock("a")).isInstanceOf(ClientClosedException.class);
        }
    }

    @RepeatedTest(2)
    void locksAndClientBelongTogether(TestLocks locks, LockClient client) {
        assertThat(locks).isSameAs(before);
        assertThat(locks.client()).isSameAs(client);
        assertThat(client.lock("a").tryAcquire())
                .as("nothing is left of other tests")
                .isPresent();
        SEEN.add(client);
    }

    @Nested
    class Inside {
        @Test
        void aNestedClassSharesTheTestsLocks(TestLocks locks) {
            assertThat(locks).isSameAs(before);
        }
    }
}
