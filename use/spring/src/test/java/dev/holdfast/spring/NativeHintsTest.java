package dev.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Hold;
import dev.holdfast.LockClient;
import dev.holdfast.spring.boot.HoldfastAutoConfiguration;
import dev.holdfast.spring.boot.HoldfastProperties;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.aot.generate.GeneratedFiles.Kind;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.aot.hint.TypeReference;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;
import org.springframework.aot.test.generate.TestGenerationContext;
import org.springframework.beans.factory.aot.AotServices;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.aot.ApplicationContextAotGenerator;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.test.tools.CompileWithForkedClassLoader;
import org.springframework.core.test.tools.TestCompiler;

/** What the starter says for native images, and that the application which Spring prepares for one works on a JVM. */
class NativeHintsTest {
    @Test
    void whatIsLookedForByNameIsKept() {
        RuntimeHints hints = new RuntimeHints();
        AotServices.factories().load(RuntimeHintsRegistrar.class).stream()
                .filter(NativeHints.class::isInstance)
                .forEach(registrar -> registrar.registerHints(hints, getClass().getClassLoader()));
        assertThat(NativeHints.LOOKED_FOR)
                .allSatisfy(
                        type -> assertThat(RuntimeHintsPredicates.reflection().onType(TypeReference.of(type)))
                                .accepts(hints));
        assertThat(RuntimeHintsPredicates.reflection()
                        .onType(HoldLock.class)
                        .withMemberCategory(MemberCategory.INVOKE_DECLARED_METHODS))
                .accepts(hints);
    }

    @Test
    void argumentsThatNamesAreMadeOfAreKeptWithTheirProperties() throws NoSuchMethodException {
        TestGenerationContext generated = new TestGenerationContext();
        prepare(generated);
        RuntimeHints hints = generated.getRuntimeHints();
        assertThat(RuntimeHintsPredicates.reflection()
                        .onMethodInvocation(Orders.class.getMethod("charge", Order.class)))
                .accepts(hints);
        assertThat(RuntimeHintsPredicates.reflection().onMethodInvocation(Order.class.getMethod("getCustomer")))
                .accepts(hints);
        assertThat(RuntimeHintsPredicates.reflection().onMethodInvocation(Customer.class.getMethod("getId")))
                .as("a property of a property")
                .accepts(hints);
    }

    @Test
    @CompileWithForkedClassLoader
    @Tag("thorough")
    void theApplicationThatIsPreparedAheadOfTimeHoldsItsLocks() {
        TestGenerationContext generated = new TestGenerationContext();
        prepare(generated);
        generated.writeGeneratedContent();
        assertThat(generated.getGeneratedFiles().getGeneratedFiles(Kind.SOURCE)).isNotEmpty();
        TestCompiler.forSystem().with(generated).compile(compiled -> {
            @SuppressWarnings("unchecked")
            ApplicationContextInitializer<GenericApplicationContext> initializer =
                    compiled.getInstance(ApplicationContextInitializer.class);
            try (GenericApplicationContext context = new GenericApplicationContext()) {
                PROPERTIES.applyTo(context);
                initializer.initialize(context);
                context.refresh();
                assertThat(context.getBean(HoldfastProperties.class).label()).isEqualTo("native");
                assertThat(context.getBean(LockClients.class).client("orders"))
                        .isNotSameAs(context.getBean(LockClient.class));
                assertThat(context.getBean(Orders.class).charge(new Order(new Customer(7))))
                        .isEqualTo("customer:7");
            }
        });
    }

    private static final TestPropertyValues PROPERTIES = TestPropertyValues.of(Map.of(
            "holdfast.store", "mem:", "holdfast.label", "native", "holdfast.clients.orders.store", "mem:orders"));

    private static void prepare(TestGenerationContext generated) {
        AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();
        PROPERTIES.applyTo(context);
        context.register(Application.class);
        new ApplicationContextAotGenerator().processAheadOfTime(context, generated);
        context.close();
    }

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration({HoldfastAutoConfiguration.class, LockAnnotationsAutoConfiguration.class})
    public static class Application {
        @Bean
        public Orders orders() {
            return new Orders();
        }
    }

    public static class Orders {
        @HoldLock("customer:#{#order.customer.id}")
        public String charge(Order order) {
            return ((Hold) Locks.current().orElseThrow()).name();
        }
    }

    public static class Order {
        private final Customer customer;

        public Order(Customer customer) {
            this.customer = customer;
        }

        public Customer getCustomer() {
            return customer;
        }
    }

    public static class Customer {
        private final long id;

        public Customer(long id) {
            this.id = id;
        }

        public long getId() {
            return id;
        }
    }
}
