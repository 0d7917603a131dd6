package dev.holdfast.internal;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.spi.Store;
import java.lang.reflect.Method;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

/** The store that counts stands before the real one in everything. */
class CountingStoreTest {
    @Test
    void passesOnEveryRequestThatAStoreKnowsDefaultsIncluded() {
        assertThat(Arrays.stream(Store.class.getMethods()).filter(CountingStoreTest::isMissing))
                .isEmpty();
    }

    private static boolean isMissing(Method method) {
        try {
            CountingStore.class.getDeclaredMethod(method.getName(), method.getParameterTypes());
            return false;
        } catch (NoSuchMethodException missing) {
            return true;
        }
    }
}
