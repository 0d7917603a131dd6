package dev.holdfast.build;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import java.time.Clock;
import java.time.Instant;
import java.util.Date;
import java.util.List;
import java.util.Set;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** A client's wall clock decides nothing: core and stores have one place that reads it, to notice that time jumped. */
class WallClockTest {
    /** The classes that may read it: the engine's time, and that of a store which tells people how old a hold is. */
    private static final Set<String> MAY_READ_IT = Set.of("dev.holdfast.internal.SystemTime");

    @Test
    void coreAndStoresReadItWhereTheyMayAlone() {
        House house = House.get();
        Stream<JavaClass> types = house.engineAndStores().stream()
                .flatMap(module -> house.classesOf(module).stream())
                .filter(type -> !MAY_READ_IT.contains(topLevel(type)));
        assertThat(types.flatMap(WallClockTest::reads)).isEmpty();
    }

    @Test
    void theRuleSeesCallsAndReferences() {
        JavaClass sample = new ClassFileImporter().importClass(Sample.class);
        assertThat(reads(sample)).hasSize(Sample.READS);
    }

    private static String topLevel(JavaClass type) {
        return type.getEnclosingClass().map(WallClockTest::topLevel).orElse(type.getName());
    }

    private static Stream<String> reads(JavaClass type) {
        return type.getAccessesFromSelf().stream()
                .filter(WallClockTest::isWallClock)
                .map(JavaAccess::getDescription);
    }

    private static boolean isWallClock(JavaAccess<?> access) {
        String owner = access.getTargetOwner().getName();
        String name = access.getTarget().getName();
        boolean withoutArguments = !access.getDescription().contains("Date.<init>(long)");
        return (owner.equals("java.lang.System") && name.equals("currentTimeMillis"))
                || (owner.startsWith("java.time.") && name.equals("now"))
                || (owner.equals("java.time.Clock")
                        && List.of("system", "systemUTC", "systemDefaultZone", "tickMillis")
                                .contains(name))
                || (owner.equals("java.util.Date") && name.equals("<init>") && withoutArguments)
                || (owner.equals("java.util.Calendar") && name.equals("getInstance"));
    }

    @SuppressWarnings({"unused", "JavaUtilDate"})
    private static final class Sample {
        static final int READS = 5;

        final long millis = System.currentTimeMillis();
        final LongSupplier reference = System::currentTimeMillis;
        final Instant instant = Instant.now();
        final Clock clock = Clock.systemUTC();
        final Date date = new Date();
        final Date fixed = new Date(0);
        final long nanos = System.nanoTime();
    }
}
