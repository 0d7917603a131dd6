package dev.holdfast.testkit;

import dev.holdfast.LockClient;
import java.util.function.Supplier;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * Gives test methods, and methods that run before and after each, a {@link TestLocks} of their own or its
 * {@link LockClient}, and closes both after the test. For JUnit 5 and 6.
 *
 * <pre>{@code
 * @ExtendWith(HoldfastExtension.class)                 // time stands still; else @RegisterExtension with flowing()
 * class OrdersTest {
 *     @Test
 *     void chargesOnce(TestLocks locks, LockClient client) {
 *         // ...
 *     }
 * }
 * }</pre>
 */
public final class HoldfastExtension implements ParameterResolver, AfterEachCallback {
    private static final Namespace NAMESPACE = Namespace.create(HoldfastExtension.class);

    private final Supplier<TestLocks> making;

    /** With a time that stands still. */
    public HoldfastExtension() {
        this(TestLocks::standing);
    }

    private HoldfastExtension(Supplier<TestLocks> making) {
        this.making = making;
    }

    /** With a time that runs, as {@link TestLocks#flowing()}. */
    public static HoldfastExtension flowing() {
        return new HoldfastExtension(TestLocks::flowing);
    }

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        Class<?> type = parameter.getParameter().getType();
        return context.getTestMethod().isPresent() && (type == TestLocks.class || type == LockClient.class);
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
        TestLocks locks = locks(context);
        return parameter.getParameter().getType() == TestLocks.class ? locks : locks.client();
    }

    @Override
    public void afterEach(ExtensionContext context) {
        TestLocks locks = store(context).remove(TestLocks.class, TestLocks.class);
        if (locks != null) {
            locks.close();
        }
    }

    private TestLocks locks(ExtensionContext context) {
        TestLocks locks = store(context).get(TestLocks.class, TestLocks.class);
        if (locks == null) {
            locks = making.get();
            store(context).put(TestLocks.class, locks);
        }
        return locks;
    }

    private static ExtensionContext.Store store(ExtensionContext context) {
        return context.getStore(NAMESPACE);
    }
}
