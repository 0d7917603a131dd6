package dev.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.Hold;
import dev.holdfast.HoldLostException;
import dev.holdfast.LockClient;
import dev.holdfast.LockMode;
import dev.holdfast.MultiHold;
import dev.holdfast.spring.boot.HoldfastAutoConfiguration;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.core.annotation.AliasFor;

/** Methods with {@link HoldLock}, called through their bean. */
class HoldLockTest {
    private final ApplicationContextRunner application = new ApplicationContextRunner()
            .withConfiguration(
                    AutoConfigurations.of(HoldfastAutoConfiguration.class, LockAnnotationsAutoConfiguration.class))
            .withBean(Orders.class)
            .withBean("naming", Naming.class)
            .withPropertyValues("holdfast.store=mem:", "holdfast.clients.other.store=mem:", "shop.region=eu");

    @Test
    void theLockIsHeldWhileTheMethodRunsAndFreeAfterIt() {
        with((orders, client) -> {
            assertThat(orders.charge(7)).isEqualTo("order:7");
            assertThat(client.lock("order:7").status().grant()).isEmpty();
        });
    }

    @Test
    void aNameIsMadeOfArgumentsBeansAndProperties() {
        with((orders, client) -> {
            assertThat(orders.named(new Order(42L))).isEqualTo("eu-42-seen");
            assertThat(orders.byDefault()).isEqualTo(Orders.class.getName() + ".byDefault");
        });
    }

    @Test
    void valuesThatOnlyReadTheSameTogetherMakeDifferentNames() {
        application.withBean(Transfers.class).run(context -> {
            Transfers transfers = context.getBean(Transfers.class);
            assertThat(transfers.move("1", "2:3", null)).isEqualTo("transfer:1:2:3");
            assertThat(transfers.move("1:2", "3", null)).isEqualTo("transfer:1\\:2:3");
            assertThat(transfers.move("1\\", "2:3", null)).isEqualTo("transfer:1\\\\:2:3");
        });
    }

    static class Transfers {
        @HoldLock("transfer:#{#from}:#{#to}")
        public String move(String from, String to, @Nullable Hold hold) {
            return Objects.requireNonNull(hold).name();
        }
    }

    @Test
    void aNameIsEvaluatedOnceAndBeforeTheCall() {
        with((orders, client) -> {
            Order order = new Order(1L);
            orders.changes(order);
            assertThat(order.reads).hasValue(1);
            assertThat(client.lock("order:1").status().grant()).isEmpty();
        });
    }

    @Test
    void aNameThatIsNullOrEmptyIsRefusedAndTheMethodDoesNotRun() {
        with((orders, client) -> {
            assertThatThrownBy(() -> orders.named(new Order(null)))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("#{#order.id} is null")
                    .hasMessageContaining("Orders.named");
            assertThatThrownBy(() -> orders.text("")).hasMessageContaining("is empty");
            assertThatThrownBy(() -> orders.named(null)).hasMessageContaining("cannot be evaluated");
            assertThat(orders.ran()).isEmpty();
        });
    }

    @Test
    void aCallThatCannotHaveTheLockInTimeThrowsAndDoesNotRun() {
        with((orders, client) -> {
            try (Hold hold = client.lock("busy").acquire()) {
                assertThat(hold.isValid()).isTrue();
                assertThatThrownBy(orders::asksOnce)
                        .isInstanceOf(LockNotAcquiredException.class)
                        .hasMessageContaining("Orders.asksOnce")
                        .hasMessageContaining("[busy]");
                assertThat(orders.ran()).isEmpty();
            }
            orders.asksOnce();
            assertThat(orders.ran()).containsExactly("asksOnce");
        });
    }

    @Test
    void aCallThatIsSkippedReturnsNothing() {
        with((orders, client) -> {
            try (Hold hold = client.lock("busy").acquire()) {
                assertThat(hold.isValid()).isTrue();
                assertThat(orders.skipsObject()).isNull();
                assertThat(orders.skipsOptional()).isEmpty();
                assertThat(orders.skipsFuture().join()).isNull();
                assertThat(orders.skipsFutureOptional().join()).isEmpty();
                assertThat(orders.ran()).isEmpty();
            }
            assertThat(orders.skipsOptional()).contains("ran");
        });
    }

    @Test
    void anInterruptEndsTheWaitAndIsKept() {
        with((orders, client) -> {
            Thread.currentThread().interrupt();
            assertThatThrownBy(orders::byDefault).isInstanceOf(LockNotAcquiredException.class);
            assertThat(Thread.interrupted()).isTrue();
        });
    }

    @Test
    void readersRunTogetherAndKeepAWriterOut() {
        with((orders, client) -> orders.reads(() -> {
            assertThat(client.readWriteLock("catalogue").read().tryAcquire())
                    .get()
                    .satisfies(Hold::close);
            assertThat(client.lock("catalogue").tryAcquire()).isEmpty();
        }));
    }

    @Test
    void soManyRunAtOnceAsThereArePermits() {
        with((orders, client) -> orders.exports(() -> orders.exports(() ->
                assertThatThrownBy(() -> orders.exports(() -> {})).isInstanceOf(LockNotAcquiredException.class))));
    }

    @Test
    void severalNamesAreHeldTogether() {
        with((orders, client) -> {
            List<String> held = orders.transfers("a", "b", null);
            assertThat(held).containsExactly("account:a", "account:b");
        });
    }

    @Test
    void theLeaseIsThatOfTheAnnotation() {
        with((orders, client) ->
                assertThat(orders.remaining(null)).isBetween(Duration.ofSeconds(50), Duration.ofMinutes(1)));
    }

    @Test
    void aParameterGetsTheHold() {
        with((orders, client) -> {
            long first = orders.token(null);
            assertThat(orders.token(null)).isGreaterThan(first).isPositive();
        });
    }

    @Test
    void aNamedClientKeepsItsOwnLocks() {
        with((orders, client) -> orders.onTheOther(() -> {
            assertThat(client.lock("order:7").status().grant()).isEmpty();
            Locks.assertHeld("order:7");
        }));
    }

    @Test
    void anAnnotationOfTheApplicationsOwnCanCarryIt() {
        with((orders, client) -> assertThat(orders.composed(5)).isEqualTo("shop:5"));
    }

    @Test
    void aBeanThatIsSeenByItsInterfaceAloneIsGuardedToo() {
        application.withBean(Shop.class, CornerShop::new).run(context -> {
            Shop shop = context.getBean(Shop.class);
            assertThat(Proxy.isProxyClass(shop.getClass())).isTrue();
            assertThat(shop.buy(3)).isEqualTo("item:3");
            assertThat(shop.sell(4)).isEqualTo("item:4");
        });
    }

    @Test
    void aLossIsToldToTheCaller() {
        with((orders, client) -> assertThatThrownBy(() -> orders.charged(hold -> lose(client, hold)))
                .isInstanceOf(HoldLostException.class));
    }

    @Test
    void whatTheMethodThrowsIsThrown() {
        with((orders, client) -> {
            assertThatThrownBy(orders::fails)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessage("failed");
            assertThat(client.lock("fails").status().grant()).isEmpty();
        });
    }

    @Test
    void aFutureHoldsTheLockUntilItHasCompleted() {
        with((orders, client) -> {
            CompletableFuture<String> work = new CompletableFuture<>();
            CompletableFuture<String> result = orders.later(work);
            assertThat(client.lock("later").tryAcquire()).isEmpty();
            work.complete("done");
            assertThat(result.join()).isEqualTo("done");
            assertThat(client.lock("later").tryAcquire(Duration.ofMinutes(1)))
                    .get()
                    .satisfies(Hold::close);
        });
    }

    @Test
    void aFutureThatFailsReleasesTheLock() {
        with((orders, client) -> {
            assertThatThrownBy(() -> orders.later(CompletableFuture.failedFuture(new IllegalStateException("failed")))
                            .join())
                    .hasRootCauseMessage("failed");
            assertThat(orders.later(null)).isNull();
            assertThat(client.lock("later").tryAcquire(Duration.ofMinutes(1)))
                    .get()
                    .satisfies(Hold::close);
        });
    }

    @Test
    @SuppressWarnings("unchecked")
    void aValueThatCannotBeExaminedReleasesTheLockAndIsReported() {
        CompletableFuture<String> broken = new CompletableFuture<>() {
            @Override
            public boolean isDone() {
                throw new StackOverflowError("of a test");
            }
        };
        with((orders, client) -> {
            CompletableFuture<?> work = CompletableFuture.completedFuture(broken);
            CompletableFuture<String> result = orders.later((CompletableFuture<String>) work);

            assertThatThrownBy(() -> result.orTimeout(30, TimeUnit.SECONDS).join())
                    .hasCauseInstanceOf(StackOverflowError.class);
            assertThat(client.lock("later").tryAcquire(Duration.ofMinutes(1)))
                    .get()
                    .satisfies(Hold::close);
        });
    }

    @Test
    void aCallerThatCancelsDoesNotReleaseTheLockOfWorkThatGoesOn() {
        with((orders, client) -> {
            CompletableFuture<String> work = new CompletableFuture<>();
            orders.later(work).cancel(true);
            assertThat(work).isNotDone();
            assertThat(client.lock("later").tryAcquire()).isEmpty();
            work.complete("done");
            assertThat(client.lock("later").tryAcquire(Duration.ofMinutes(1)))
                    .get()
                    .satisfies(Hold::close);
        });
    }

    @Test
    void twoNamesThatAreTheSameAreOne() {
        with((orders, client) -> assertThat(orders.transfers("a", "a", null)).containsExactly("account:a"));
    }

    @Test
    void aMethodThatIsCalledPastItsBeanIsFoundByTheAssertion() {
        with((orders, client) -> {
            assertThatThrownBy(orders::callsItself)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("call the method through its bean");
            assertThatThrownBy(() -> Locks.assertHeld("order:7")).hasMessageContaining("'order:7'");
            assertThat(Locks.current()).isEmpty();
        });
    }

    @Test
    void theAssertionFailsWhenTheLockIsLost() {
        with((orders, client) -> assertThatThrownBy(() -> orders.charged(hold -> {
                    lose(client, hold);
                    assertThatThrownBy(Locks::assertHeld).hasMessageContaining("may no longer be held");
                }))
                .isInstanceOf(HoldLostException.class));
    }

    @Test
    void aThreadThatWouldWaitForItselfIsTold() {
        with((orders, client) -> assertThatThrownBy(() -> orders.charged(hold -> orders.charged(inner -> {})))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("would wait for itself"));
    }

    @Test
    void aThreadEntersAgainWhereThatIsAskedFor() {
        application.withPropertyValues("holdfast.hold.reentrant=true").run(context -> {
            Orders orders = context.getBean(Orders.class);
            int[] depth = {0};
            orders.charged(hold -> orders.charged(inner -> depth[0] = 2));
            assertThat(depth[0]).isEqualTo(2);
        });
    }

    @Test
    void whereThreadsMayEnterAgainAFutureIsStillToldThatItWouldWaitForItselfAndPermitsHaveNoOwner() {
        application.withPropertyValues("holdfast.hold.reentrant=true").run(context -> {
            Orders orders = context.getBean(Orders.class);
            assertThatThrownBy(() -> orders.charged(hold -> orders.chargedLater()))
                    .hasMessageContaining("would wait for itself");
            assertThat(orders.exported()).isTrue();
        });
    }

    static void lose(LockClient client, Hold hold) {
        assertThat(client.breakGrant(hold.name(), hold.token(), true)).isTrue();
        await().atMost(Duration.ofMinutes(1)).until(() -> !hold.isValid());
    }

    private void with(Case test) {
        application.run(
                context -> test.run(context.getBean(Orders.class), context.getBean("lockClient", LockClient.class)));
    }

    interface Case {
        void run(Orders orders, LockClient client) throws Exception;
    }

    interface Action {
        void run(Hold hold) throws Exception;
    }

    interface Shop {
        String buy(int id);

        @HoldLock("item:#{#id}")
        String sell(int id);
    }

    static class CornerShop implements Shop {
        @Override
        @HoldLock("item:#{#id}")
        public String buy(int id) {
            return Orders.held();
        }

        @Override
        public String sell(int id) {
            return Orders.held();
        }
    }

    static class Naming {
        public String of(Order order) {
            return order.getId() == null ? "" : "seen";
        }
    }

    static class Order {
        final AtomicInteger reads = new AtomicInteger();
        private Long id;

        Order(Long id) {
            this.id = id;
        }

        public Long getId() {
            reads.incrementAndGet();
            return id;
        }
    }

    @Retention(RetentionPolicy.RUNTIME)
    @HoldLock(waitTime = "1m")
    @interface ShopLock {
        @AliasFor(annotation = HoldLock.class, attribute = "name")
        String[] value();
    }

    static class Orders {
        private final List<String> ran = new java.util.concurrent.CopyOnWriteArrayList<>();

        List<String> ran() {
            return ran;
        }

        @HoldLock("order:#{#id}")
        public String charge(long id) {
            return held();
        }

        @HoldLock("${shop.region}-#{#order.id}-#{@naming.of(#order)}")
        public String named(Order order) {
            ran.add("named");
            return held();
        }

        @HoldLock
        public String byDefault() {
            return held();
        }

        @HoldLock("order:#{#order.id}")
        public void changes(Order order) {
            order.id = 99L;
        }

        @HoldLock("#{#name}")
        public void text(String name) {
            ran.add("text");
        }

        @HoldLock(name = "busy", waitTime = "0s")
        public void asksOnce() {
            ran.add("asksOnce");
        }

        @HoldLock(name = "busy", waitTime = "1ms", notAcquired = NotAcquired.SKIP)
        public String skipsObject() {
            ran.add("skips");
            return "ran";
        }

        @HoldLock(name = "busy", waitTime = "0s", notAcquired = NotAcquired.SKIP)
        public Optional<String> skipsOptional() {
            ran.add("skips");
            return Optional.of("ran");
        }

        @HoldLock(name = "busy", waitTime = "0s", notAcquired = NotAcquired.SKIP)
        public CompletableFuture<String> skipsFuture() {
            ran.add("skips");
            return CompletableFuture.completedFuture("ran");
        }

        @HoldLock(name = "busy", waitTime = "0s", notAcquired = NotAcquired.SKIP)
        public CompletableFuture<Optional<String>> skipsFutureOptional() {
            ran.add("skips");
            return CompletableFuture.completedFuture(Optional.of("ran"));
        }

        @HoldLock(name = "catalogue", mode = LockMode.SHARED)
        public void reads(Runnable body) {
            body.run();
        }

        @HoldLock(name = "exports", mode = LockMode.PERMITS, permits = 2, waitTime = "0s")
        public void exports(Runnable body) {
            body.run();
        }

        @HoldLock({"account:#{#from}", "account:#{#to}"})
        public List<String> transfers(String from, String to, MultiHold hold) {
            assertThat(hold.isValid()).isTrue();
            return hold.names();
        }

        @HoldLock(name = "leased", lease = "1m")
        public Duration remaining(Hold hold) {
            return hold.remaining();
        }

        @HoldLock("token")
        public long token(Hold hold) {
            return hold.token();
        }

        @HoldLock(name = "order:7", client = "other")
        public void onTheOther(Runnable body) {
            body.run();
        }

        @ShopLock("shop:#{#id}")
        public String composed(int id) {
            return held();
        }

        @HoldLock(name = "order:lost")
        public CompletableFuture<Boolean> chargedLater() {
            return CompletableFuture.completedFuture(true);
        }

        @HoldLock(name = "exports:all", mode = LockMode.PERMITS, permits = 2)
        public boolean exported() {
            return true;
        }

        @HoldLock(name = "order:lost", lease = "6s")
        public void charged(Action action) throws Exception {
            action.run((Hold) Locks.current().orElseThrow());
        }

        @HoldLock("fails")
        public void fails() {
            throw new IllegalStateException("failed");
        }

        @HoldLock("later")
        public CompletableFuture<String> later(CompletableFuture<String> work) {
            Locks.assertHeld("later");
            return work;
        }

        public void callsItself() {
            charge(7);
        }

        static String held() {
            Locks.assertHeld();
            return ((Hold) Locks.current().orElseThrow()).name();
        }
    }
}
