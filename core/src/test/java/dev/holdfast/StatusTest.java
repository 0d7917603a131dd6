package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.memory.MemoryStore;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What the store knows of locks: status and list. */
@Timeout(120)
class StatusTest {
    private final MemoryStore memory = new MemoryStore();

    @Test
    void statusTellsHolderLeaseAndWaiters() throws InterruptedException {
        try (LockClient client =
                        LockClient.builder(memory.open()).label("nightly").build();
                LockClient other = LockClient.builder(memory.open()).build()) {
            assertThat(client.lock("a").status()).isEqualTo(LockStatus.free("a", 0));
            try (Hold hold = client.lock("a").acquire()) {
                var waiting = other.lock("a").acquireAsync();
                LockStatus status = other.lock("a").status();
                assertThat(status.waiting()).isEqualTo(1);
                LockStatus.Held held = status.grant().orElseThrow();
                assertThat(held.holder().label()).isEqualTo("nightly");
                assertThat(held.holder().pid())
                        .isEqualTo(ProcessHandle.current().pid());
                assertThat(held.holder().thread())
                        .isEqualTo(Thread.currentThread().getName());
                assertThat(held.token()).isEqualTo(hold.token());
                assertThat(held.leaseLeft()).isBetween(Duration.ofSeconds(20), Duration.ofSeconds(30));
                waiting.cancel(true);
            }
        }
    }

    @Test
    void listShowsTheLocksOfTheNamespaceThatMatch() throws InterruptedException {
        try (LockClient shop =
                        LockClient.builder(memory.open()).namespace("shop").build();
                LockClient bank =
                        LockClient.builder(memory.open()).namespace("bank").build();
                Hold one = shop.lock("order:1").acquire();
                Hold two = shop.lock("order:2").acquire();
                Hold star = shop.lock("a*b").acquire();
                Hold same = bank.lock("order:1").acquire()) {
            assertThat(shop.list("*")).extracting(LockStatus::name).containsExactly("a*b", "order:1", "order:2");
            assertThat(shop.list("order:?")).extracting(LockStatus::name).containsExactly("order:1", "order:2");
            assertThat(shop.list("order:1")).extracting(LockStatus::name).containsExactly("order:1");
            assertThat(shop.list("*2")).extracting(LockStatus::name).containsExactly("order:2");
            assertThat(shop.list("ORDER*")).isEmpty();
            assertThat(bank.list("*")).hasSize(1);
            assertThat(List.of(one, two, star, same)).allMatch(Hold::isValid);
        }
    }
}
