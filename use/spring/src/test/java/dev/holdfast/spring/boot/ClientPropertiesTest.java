package dev.holdfast.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Hold;
import dev.holdfast.HoldOptions;
import dev.holdfast.LockClient;
import dev.holdfast.LockEvent;
import dev.holdfast.LockListener;
import dev.holdfast.spring.LockClients;
import dev.holdfast.testbed.Ports;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** What the properties say is what the clients do. */
class ClientPropertiesTest {
    private final ApplicationContextRunner application =
            new ApplicationContextRunner().withConfiguration(AutoConfigurations.of(HoldfastAutoConfiguration.class));

    @TempDir
    Path folder;

    @Test
    void onePropertyMakesAClient() {
        application
                .withPropertyValues("holdfast.store=sqlite:" + folder.resolve("locks.db"))
                .run(context -> {
                    LockClient client = context.getBean(LockClient.class);
                    try (Hold hold = client.lock("order:42").acquire();
                            LockClient other = LockClient.connect("sqlite:" + folder.resolve("locks.db"))) {
                        assertThat(hold.token()).isPositive();
                        assertThat(other.lock("order:42").tryAcquire()).isEmpty();
                    }
                });
    }

    @Test
    void theSettingsOfAClientReachIt() {
        application
                .withPropertyValues(
                        "holdfast.store=mem:settings",
                        "holdfast.namespace=shop",
                        "holdfast.label=till-7",
                        "holdfast.outage-limit=5s",
                        "holdfast.session=10s",
                        "holdfast.password=secret")
                .run(context -> {
                    LockClient client = context.getBean(LockClient.class);
                    try (Hold hold = client.lock("order:42").acquire();
                            LockClient plain = LockClient.connect("mem:settings")) {
                        assertThat(hold.isValid()).isTrue();
                        assertThat(plain.lock("shop:order:42")
                                        .status()
                                        .grant()
                                        .orElseThrow()
                                        .holder()
                                        .toString())
                                .contains("till-7");
                    }
                    assertThat(context.getBean(HoldfastProperties.class).toString())
                            .doesNotContain("secret");
                });
    }

    @Test
    void theSettingsOfHoldsAreThoseOfTheOptions() {
        application
                .withPropertyValues(
                        "holdfast.store=mem:",
                        "holdfast.hold.lease=10s",
                        "holdfast.hold.auto-renew=false",
                        "holdfast.hold.max-hold=5m",
                        "holdfast.hold.hand-over-times=3",
                        "holdfast.hold.hand-over-time=7ms",
                        "holdfast.hold.strict-fifo=true",
                        "holdfast.hold.await-release=true",
                        "holdfast.hold.reentrant=true")
                .run(context -> assertThat(context.getBean(LockClients.class).options(""))
                        .isEqualTo(HoldOptions.defaults()
                                .lease(Duration.ofSeconds(10))
                                .autoRenew(false)
                                .maxHold(Duration.ofMinutes(5))
                                .handOver(3, Duration.ofMillis(7))
                                .strictFifo(true)
                                .awaitRelease(true)
                                .reentrant(true)));
    }

    @Test
    void futuresCompleteOnTheExecutorThatIsNamed() {
        application
                .withUserConfiguration(TwoExecutors.class)
                .withPropertyValues(
                        "holdfast.store=mem:",
                        "holdfast.executor=second",
                        "holdfast.clients.orders.store=mem:",
                        "holdfast.clients.orders.executor=first")
                .run(context -> {
                    assertThat(completesOn(context.getBean(LockClient.class))).isEqualTo("second");
                    assertThat(completesOn(context.getBean("ordersLockClient", LockClient.class)))
                            .isEqualTo("first");
                });
    }

    @ParameterizedTest
    @ValueSource(strings = {"third", "word"})
    void anExecutorThatIsNoneStopsTheStart(String bean) {
        application
                .withUserConfiguration(TwoExecutors.class)
                .withPropertyValues("holdfast.store=mem:", "holdfast.executor=" + bean)
                .run(context -> assertThat(context)
                        .getFailure()
                        .hasStackTraceContaining("The application has no Executor named '" + bean + "'"));
    }

    private static String completesOn(LockClient client) throws Exception {
        Hold first = client.lock("a").acquire();
        CompletableFuture<String> thread = client.lock("a").acquireAsync().thenApply(hold -> {
            hold.close();
            return Thread.currentThread().getName();
        });
        first.close();
        return thread.get(30, TimeUnit.SECONDS);
    }

    @Configuration(proxyBeanMethods = false)
    static class TwoExecutors {
        @Bean
        Executor first() {
            return task -> new Thread(task, "first").start();
        }

        @Bean
        Executor second() {
            return task -> new Thread(task, "second").start();
        }

        @Bean
        String word() {
            return "no executor";
        }
    }

    @Test
    void holdsWithoutSettingsAreHeldByTheDefaults() {
        application
                .withPropertyValues("holdfast.store=mem:")
                .run(context -> assertThat(context.getBean(LockClients.class).options(""))
                        .isEqualTo(HoldOptions.defaults()));
    }

    @Test
    void aLeaseThatIsTooShortStopsTheStart() {
        application
                .withPropertyValues("holdfast.store=mem:", "holdfast.hold.lease=5ms")
                .run(context -> assertThat(context).getFailure().hasStackTraceContaining("the lease must be"));
    }

    @Test
    void anApplicationStartsWithoutItsStoreIfThatIsAskedFor() {
        application
                .withPropertyValues("holdfast.store=redis://127.0.0.1:" + Ports.free(), "holdfast.connect-lazily=true")
                .run(context -> assertThat(context).hasNotFailed().hasSingleBean(LockClient.class));
    }

    @Test
    void namedClientsAreBeansBesideThePrimaryOne() {
        application
                .withPropertyValues(
                        "holdfast.store=mem:first",
                        "holdfast.clients.orders.store=mem:second",
                        "holdfast.clients.orders.hold.lease=1m")
                .run(context -> {
                    LockClient primary = context.getBean(LockClient.class);
                    LockClient orders = context.getBean("ordersLockClient", LockClient.class);
                    LockClients clients = context.getBean(LockClients.class);
                    assertThat(primary).isNotSameAs(orders);
                    assertThat(clients.client("")).isSameAs(primary);
                    assertThat(clients.client("orders")).isSameAs(orders);
                    assertThat(clients.options("orders").lease()).isEqualTo(Duration.ofMinutes(1));
                    try (Hold hold = primary.lock("a").acquire();
                            Hold other = orders.lock("a").tryAcquire().orElseThrow()) {
                        assertThat(hold.isValid() && other.isValid()).isTrue();
                    }
                });
    }

    @Test
    void theOnlyClientKeepsItsOwnSettingsAlsoWhereNobodyNamesIt() {
        application
                .withPropertyValues("holdfast.clients.orders.store=mem:", "holdfast.clients.orders.hold.lease=1m")
                .run(context -> {
                    LockClients clients = context.getBean(LockClients.class);
                    assertThat(clients.client("")).isSameAs(clients.client("orders"));
                    assertThat(clients.options("").lease()).isEqualTo(Duration.ofMinutes(1));
                    assertThat(clients.options("ordersLockClient").lease()).isEqualTo(Duration.ofMinutes(1));
                });
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "namespace=shop",
                "password=secret",
                "label=till",
                "session=10s",
                "outage-limit=5s",
                "connect-lazily=true",
                "executor=first",
                "hold.lease=10s"
            })
    void aSettingOfAClientThatDoesNotExistStopsTheStart(String setting) {
        application
                .withPropertyValues("holdfast.clients.orders.store=mem:", "holdfast." + setting)
                .run(context -> assertThat(context)
                        .getFailure()
                        .hasStackTraceContaining("every client has a name")
                        .hasStackTraceContaining("holdfast." + setting.split("[.=]", 2)[0] + " is set"));
    }

    @Test
    void twoNamedClientsAndNoOtherLeaveNoneWithoutAName() {
        application
                .withPropertyValues("holdfast.clients.a.store=mem:a", "holdfast.clients.b.store=mem:b")
                .run(context -> assertThatThrownBy(
                                () -> context.getBean(LockClients.class).client(""))
                        .isInstanceOf(IllegalStateException.class)
                        .hasMessageContaining("aLockClient")
                        .hasMessageContaining("bLockClient")
                        .hasMessageContaining("client = \"NAME\""));
    }

    @Test
    void aClientThatDoesNotExistIsNamedInTheMessage() {
        application
                .withPropertyValues("holdfast.store=mem:")
                .run(context -> assertThatThrownBy(
                                () -> context.getBean(LockClients.class).client("orders"))
                        .hasMessageContaining("holdfast.clients.orders.store"));
    }

    @Test
    void aClientOfTheApplicationReplacesThatOfTheProperties() {
        application.withUserConfiguration(OwnClient.class).run(context -> {
            assertThat(context.getBeanNamesForType(LockClient.class)).containsExactly("mine");
            assertThat(context.getBean(LockClients.class).client("mine"))
                    .isSameAs(context.getBean(LockClients.class).client(""));
        });
    }

    @Test
    void listenersOfTheApplicationHearOfEveryClient() {
        application
                .withUserConfiguration(Hears.class)
                .withPropertyValues("holdfast.store=mem:")
                .run(context -> {
                    context.getBean(LockClient.class).lock("a").run(hold -> {});
                    assertThat(context.getBean(Hears.class).acquired.poll(1, TimeUnit.MINUTES))
                            .isEqualTo("a");
                });
    }

    @Test
    void aPropertyThatDoesNotExistStopsTheStart() {
        application
                .withPropertyValues("holdfast.store=mem:", "holdfast.leese=10s")
                .run(context -> assertThat(context).getFailure().hasStackTraceContaining("holdfast.leese"));
    }

    @Test
    void editorsFindEveryPropertyWithItsMeaning() throws IOException {
        String metadata = new String(
                HoldfastProperties.class
                        .getResourceAsStream("/META-INF/spring-configuration-metadata.json")
                        .readAllBytes(),
                StandardCharsets.UTF_8);
        assertThat(metadata)
                .contains("\"holdfast.store\"", "\"holdfast.use\"", "\"holdfast.clients\"", "\"holdfast.hold.lease\"")
                .contains("URL of the store, such as redis:", "How long the store keeps a grant that is not renewed");
        String properties = metadata.substring(metadata.indexOf("\"properties\""));
        assertThat(properties.split("\\{"))
                .filteredOn(entry -> entry.contains("\"name\": \"holdfast."))
                .hasSizeGreaterThan(15)
                .allMatch(entry -> entry.contains("\"description\""), "has a description");
    }

    @Configuration(proxyBeanMethods = false)
    static class OwnClient {
        @Bean
        LockClient mine() {
            return LockClient.connect("mem:");
        }
    }

    static class Hears implements LockListener {
        final BlockingQueue<String> acquired = new LinkedBlockingQueue<>();

        @Override
        public void onAcquired(LockEvent.Acquired event) {
            acquired.add(event.name());
        }
    }
}
