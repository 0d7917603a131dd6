package dev.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Hold;
import dev.holdfast.LockClient;
import dev.holdfast.OnceOptions;
import dev.holdfast.OnceRun;
import dev.holdfast.OnceTurn;
import dev.holdfast.spring.boot.HoldfastAutoConfiguration;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Optional;
import java.util.TimeZone;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.logging.Logger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.transaction.annotation.Transactional;

/** Methods with {@link Once}, called through their bean. */
@ExtendWith(OutputCaptureExtension.class)
class OnceTest {
    private final ApplicationContextRunner application = new ApplicationContextRunner()
            .withConfiguration(
                    AutoConfigurations.of(HoldfastAutoConfiguration.class, LockAnnotationsAutoConfiguration.class))
            .withPropertyValues("holdfast.store=mem:");

    @Test
    void aMethodRunsOnceInItsPeriodAndOtherCallsAreSkipped() {
        application.withBean(Reports.class).run(context -> {
            Reports reports = context.getBean(Reports.class);
            assertThat(reports.yearly(null)).contains("written");
            assertThat(reports.yearly(null)).isEmpty();
            assertThat(reports.byCron()).isEqualTo("written");
            assertThat(reports.byCron()).isNull();
            assertThat(reports.ran()).containsExactly("yearly", "byCron");
        });
    }

    @Test
    void aKeyIsHandledOnce() {
        application.withBean(Reports.class).run(context -> {
            Reports reports = context.getBean(Reports.class);
            reports.message("a");
            reports.message("b");
            reports.message("a");
            assertThat(reports.ran()).containsExactly("a", "b");
            assertThat(context.getBean(LockClient.class).onceRuns("*"))
                    .extracting(OnceRun::name)
                    .containsExactly("message:a", "message:b");
            assertThatThrownBy(() -> reports.message(null)).hasMessageContaining("is null");
        });
    }

    @Test
    void keysWhoseNameAndKeyOnlyReadTheSameTogetherAreAllHandled() {
        application.withBean(Shops.class).run(context -> {
            Shops shops = context.getBean(Shops.class);
            assertThat(shops.inEurope("7")).isEqualTo("ran");
            assertThat(shops.anywhere("eu:7")).isEqualTo("ran");
            assertThat(context.getBean(LockClient.class).onceRuns("*"))
                    .extracting(OnceRun::name)
                    .containsExactlyInAnyOrder("shop\\:eu:7", "shop:eu:7");
        });
    }

    @Test
    void workThatFailsThrowsItsOwnExceptionAndRunsAgain() {
        application.withBean(Reports.class).run(context -> {
            Reports reports = context.getBean(Reports.class);
            assertThatThrownBy(reports::failsAtFirst)
                    .isInstanceOf(java.io.IOException.class)
                    .hasMessage("failed");
            reports.failsAtFirst();
            reports.failsAtFirst();
            assertThat(reports.ran()).containsExactly("failsAtFirst", "failsAtFirst");
        });
    }

    @Test
    void workThatRunsElsewhereIsSkipped() {
        application.withBean(Reports.class).run(context -> {
            LockClient client = context.getBean(LockClient.class);
            try (Hold other = client.lock("yearly").acquire()) {
                assertThat(other.isValid()).isTrue();
                assertThat(context.getBean(Reports.class).yearly(null)).isEmpty();
            }
        });
    }

    @Test
    void scheduledMethodsOfTwoServersRunOnce() {
        application
                .withPropertyValues("holdfast.store=mem:two-servers")
                .withUserConfiguration(Scheduling.class)
                .withBean(Timer.class)
                .run(first -> application
                        .withPropertyValues("holdfast.store=mem:two-servers")
                        .withUserConfiguration(Scheduling.class)
                        .withBean(Timer.class)
                        .run(second -> {
                            Timer one = first.getBean(Timer.class);
                            Timer other = second.getBean(Timer.class);
                            assertThat(one.calls().poll(1, TimeUnit.MINUTES)).isNotNull();
                            assertThat(other.calls().poll(1, TimeUnit.MINUTES)).isNotNull();
                            assertThat(one.runs().size() + other.runs().size()).isEqualTo(1);
                        }));
    }

    @Test
    void anotherScheduleOfAnotherServerIsToldOnce() {
        List<String> logged = new CopyOnWriteArrayList<>();
        Logger log = Logger.getLogger("dev.holdfast"); // kept: the log manager holds it weakly
        log.setFilter(entry -> logged.add(entry.getMessage()));
        application.withBean(Reports.class).run(context -> {
            OnceOptions other = OnceOptions.every(Duration.ofDays(1));
            assertThat(context.getBean(LockClient.class)
                            .once("yearly", other)
                            .run(turn -> {})
                            .ran())
                    .isTrue();
            Reports reports = context.getBean(Reports.class);
            reports.yearly(null);
            reports.yearly(null);
            reports.yearly(null);
        });
        log.setFilter(null);
        assertThat(logged).singleElement().asString().contains("'yearly'", "use the same schedule");
    }

    @Test
    void aTimerThatIsSwitchedOffDoesNotStopTheStart() {
        application
                .withBean(SwitchedOff.class)
                .run(context -> assertThatThrownBy(
                                () -> context.getBean(SwitchedOff.class).run())
                        .hasMessageContaining("switched off"));
    }

    @Test
    void twoBeansThatInheritAMethodHaveRecordsOfTheirOwn() {
        application.withBean(Berlin.class).withBean(Paris.class).run(context -> {
            assertThat(context.getBean(Berlin.class).run()).isEqualTo("ran");
            assertThat(context.getBean(Paris.class).run()).isEqualTo("ran");
            assertThat(context.getBean(Paris.class).run()).isNull();
        });
    }

    @Test
    void twoBeansOfOneClassWithoutANameStopTheStart() {
        application
                .withBean("berlin", Berlin.class)
                .withBean("alsoBerlin", Berlin.class)
                .run(context -> assertThat(context)
                        .getFailure()
                        .hasStackTraceContaining(
                                "has no name, and the beans 'berlin' and 'alsoBerlin' share its class"));
        application
                .withBean("one", Named.class)
                .withBean("other", Named.class)
                .run(context -> assertThat(context).hasNotFailed());
        Berlin both = new Berlin();
        application
                .withInitializer(context -> {
                    context.getBeanFactory().registerSingleton("one", both);
                    context.getBeanFactory().registerSingleton("sameObject", both);
                })
                .run(context -> assertThat(context).hasNotFailed());
    }

    @Test
    void aTimerThatCountsInAnotherZoneThanItsWorkIsToldAtTheStart(CapturedOutput output) {
        TimeZone before = TimeZone.getDefault();
        try {
            TimeZone.setDefault(TimeZone.getTimeZone("Europe/Berlin"));
            application.withBean(Zones.class).run(context -> assertThat(context).hasNotFailed());
            assertThat(output.toString().lines().filter(line -> line.contains("counts in the zone of this server")))
                    .singleElement()
                    .asString()
                    .contains("@Scheduled on OnceTest.Zones.twoZones counts", "Europe/Berlin", "the same zone in both")
                    .doesNotContain("oneZone", "rate", "off");
            TimeZone.setDefault(TimeZone.getTimeZone("Etc/UTC"));
            application.withBean(Zones.class).run(context -> assertThat(context).hasNotFailed());
        } finally {
            TimeZone.setDefault(before);
        }
        assertThat(output.toString()).containsOnlyOnce("counts in the zone of this server");
    }

    @Test
    void workInATransactionOfItsCallerIsToldOnce(CapturedOutput output) {
        application
                .withUserConfiguration(RecordedTransactions.Begun.class)
                .withBean(Reports.class)
                .withBean(Caller.class)
                .run(context -> {
                    context.getBean(Caller.class).call("a");
                    context.getBean(Caller.class).call("b");
                    assertThat(output.toString().split("Reports.message was called inside a transaction", -1))
                            .hasSize(2);
                });
    }

    @Test
    void aTransactionThatBeginsBeforeItIsToldAtTheStart(CapturedOutput output) {
        application
                .withUserConfiguration(RecordedTransactions.Inverted.class)
                .withBean(InTransaction.class)
                .run(context -> assertThat(output).contains("InTransaction.run begins before"));
    }

    @ParameterizedTest
    @ValueSource(classes = {NoPeriod.class, TwoPeriods.class, Primitive.class, Later.class, BrokenCron.class})
    void aMethodThatCannotRunOnceStopsTheStart(Class<?> bean) {
        application
                .withBean("annotated", bean)
                .run(context -> assertThat(context).getFailure().hasStackTraceContaining(bean.getSimpleName()));
    }

    @Test
    void theReasonOfARefusalIsInItsMessage() {
        application
                .withBean(NoPeriod.class)
                .run(context -> assertThat(context)
                        .getFailure()
                        .hasStackTraceContaining("NoPeriod.run has no period; set one of every"));
    }

    @Test
    void periodsByCronBeginAtTheTimesOfTheExpression() {
        CronPeriods nightly = new CronPeriods("0 0 3 * * *", ZoneId.of("Europe/Berlin"));
        assertThat(nightly.periodAt(Instant.parse("2026-03-28T12:00:00Z")).toString())
                .isEqualTo("2026-03-28T02:00:00Z to 2026-03-29T01:00:00Z"); // summer time begins in this night
        assertThat(nightly.periodAt(Instant.parse("2026-03-29T01:00:00Z")).start())
                .isEqualTo("2026-03-29T01:00:00Z");
        CronPeriods often = new CronPeriods("*/5 * 9 * * MON", ZoneId.of("UTC"));
        assertThat(often.periodAt(Instant.parse("2026-11-23T09:30:07.250Z")).toString())
                .isEqualTo("2026-11-23T09:30:05Z to 2026-11-23T09:30:10Z");
        assertThat(often.periodAt(Instant.parse("2026-11-25T00:00:00Z")).toString())
                .isEqualTo("2026-11-23T09:59:55Z to 2026-11-30T09:00:00Z");
        CronPeriods leap = new CronPeriods("0 0 0 29 2 *", ZoneId.of("UTC"));
        assertThat(leap.periodAt(Instant.parse("2026-01-01T00:00:00Z")).toString())
                .isEqualTo("2024-02-29T00:00:00Z to 2028-02-29T00:00:00Z");
    }

    @Test
    void aTimeThatComesTwiceInAutumnBeginsOnePeriodUnlessTheWorkIsDoneEachHour() {
        ZoneId berlin = ZoneId.of("Europe/Berlin");
        Instant afterTheSecond = Instant.parse("2026-10-25T01:45:00Z");
        assertThat(new CronPeriods("0 30 2 * * *", berlin)
                        .periodAt(afterTheSecond)
                        .toString())
                .isEqualTo("2026-10-25T00:30:00Z to 2026-10-26T01:30:00Z");
        assertThat(new CronPeriods("0 30 * * * *", berlin)
                        .periodAt(afterTheSecond)
                        .toString())
                .isEqualTo("2026-10-25T01:30:00Z to 2026-10-25T02:30:00Z");
        assertThat(new CronPeriods("@hourly", berlin).periodAt(afterTheSecond).toString())
                .isEqualTo("2026-10-25T01:00:00Z to 2026-10-25T02:00:00Z");
    }

    @Test
    void aCronExpressionWithoutAZoneIsInUtcWhateverTheZoneOfTheServer() {
        TimeZone before = TimeZone.getDefault();
        TimeZone.setDefault(TimeZone.getTimeZone("Asia/Kathmandu")); // 05:45 ahead: no whole hours
        try {
            application.withBean(Midday.class).run(context -> {
                context.getBean(Midday.class).work();
                assertThat(context.getBean(LockClient.class).onceRuns("midday"))
                        .singleElement()
                        .satisfies(run -> assertThat(run.period().orElseThrow().start())
                                .satisfies(start -> assertThat(
                                                start.atOffset(ZoneOffset.UTC).toLocalTime())
                                        .isEqualTo(LocalTime.NOON)));
            });
        } finally {
            TimeZone.setDefault(before);
        }
    }

    static class Midday {
        @Once(name = "midday", cron = "0 0 12 * * *")
        public void work() {}
    }

    static class Shops {
        @Once(name = "shop:eu", key = "#{#id}")
        public String inEurope(String id) {
            return "ran";
        }

        @Once(name = "shop", key = "#{#id}")
        public String anywhere(String id) {
            return "ran";
        }
    }

    static class Reports {
        private final List<String> ran = new CopyOnWriteArrayList<>();

        List<String> ran() {
            return ran;
        }

        @Once(name = "yearly", every = "365d", atMost = "1h", lease = "10s")
        public Optional<String> yearly(OnceTurn turn) {
            assertThat(turn.token()).isPositive();
            ran.add("yearly");
            return Optional.of("written");
        }

        @Once(cron = "${report.cron:0 0 0 1 1 *}", zone = "UTC")
        public String byCron() {
            ran.add("byCron");
            return "written";
        }

        @Once(name = "message", key = "#{#id}", keep = "7d")
        public void message(String id) {
            ran.add(id);
        }

        @Once(every = "365d")
        public void failsAtFirst() throws java.io.IOException {
            ran.add("failsAtFirst");
            if (ran.size() == 1) {
                throw new java.io.IOException("failed");
            }
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableScheduling
    static class Scheduling {}

    static class Timer {
        private final BlockingQueue<String> calls = new LinkedBlockingQueue<>();

        BlockingQueue<String> calls() {
            return calls;
        }

        private final BlockingQueue<String> runs = new LinkedBlockingQueue<>();

        BlockingQueue<String> runs() {
            return runs;
        }

        @Scheduled(fixedDelay = 365, timeUnit = TimeUnit.DAYS)
        @Once(name = "timer", every = "365d")
        public void run() {
            runs.add("run");
        }

        @Scheduled(initialDelay = 100, fixedDelay = 100)
        public void afterIt() {
            calls.add("called");
        }
    }

    static class SwitchedOff {
        @Scheduled(cron = "${report.cron:-}")
        @Once(cron = "${report.cron:-}")
        public void run() {}
    }

    abstract static class City {
        @Once(every = "365d")
        public String run() {
            return "ran";
        }
    }

    static class Berlin extends City {}

    static class Paris extends City {}

    static class Named {
        @Once(name = "one piece of work", every = "365d")
        public void run() {}
    }

    static class Caller {
        private final Reports reports;

        Caller(Reports reports) {
            this.reports = reports;
        }

        @Transactional
        public void call(String id) {
            reports.message(id);
        }
    }

    static class InTransaction {
        @Once(every = "365d")
        @Transactional
        public void run() {}
    }

    static class NoPeriod {
        @Once
        public void run() {}
    }

    static class TwoPeriods {
        @Once(every = "1h", key = "#{#id}")
        public void run(String id) {}
    }

    static class Primitive {
        @Once(every = "1h")
        public boolean run() {
            return true;
        }
    }

    static class Later {
        @Once(every = "1h")
        public CompletableFuture<String> run() {
            return CompletableFuture.completedFuture("");
        }
    }

    static class BrokenCron {
        @Once(cron = "now and then")
        public void run() {}
    }

    static class Zones {
        @Scheduled(cron = "0 0 3 * * *")
        @Once(cron = "0 0 3 * * *")
        public void twoZones() {}

        @Scheduled(cron = "0 0 3 * * *", zone = "Europe/Berlin")
        @Once(cron = "0 0 3 * * *", zone = "Europe/Berlin")
        public void oneZone() {}

        @Scheduled(fixedDelay = 1_000)
        @Once(cron = "0 0 4 * * *")
        public void rate() {}

        @Scheduled(cron = Scheduled.CRON_DISABLED)
        @Once(cron = "0 0 5 * * *")
        public void off() {}
    }
}
