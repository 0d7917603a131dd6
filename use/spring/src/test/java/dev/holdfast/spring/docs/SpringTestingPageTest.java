package dev.holdfast.spring.docs;

import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.holdfast.HoldLostException;
import dev.holdfast.LockClient;
import dev.holdfast.spring.HoldLock;
import dev.holdfast.testkit.TestLocks;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/** The snippet on the test of a Spring Boot application, run. */
@SpringBootTest(classes = {SpringTestingPageTest.Application.class, SpringTestingPageTest.LocksInMemory.class})
@Tag("thorough") // an application with everything; that the page says the same is seen every day
class SpringTestingPageTest {
    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import(Charges.class)
    static class Application {}

    /** The code under test. */
    public static class Charges {
        private Runnable beforeWrite = () -> {};

        public void setBeforeWrite(Runnable value) {
            beforeWrite = value;
        }

        @HoldLock("order:#{#id}")
        public void charge(long id) {
            beforeWrite.run();
        }
    }

    // @formatter:off
    // snippet springTesting
    @TestConfiguration
    static class LocksInMemory {
        @Bean
        static TestLocks locks() {
            return TestLocks.flowing();                     // closed with the application
        }

        @Bean
        static LockClient lockClient(TestLocks locks) {
            return locks.client();                          // in place of the one from the properties
        }
    }

    @Test
    void aChargeThatLosesItsLockFails(@Autowired TestLocks locks, @Autowired Charges charges) {
        charges.setBeforeWrite(() -> locks.pauseHolder("order:42"));

        assertThrows(HoldLostException.class, () -> charges.charge(42));
    }
    // end
    // @formatter:on
}
