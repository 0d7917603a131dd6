package dev.holdfast.spring

import dev.holdfast.Hold
import dev.holdfast.HoldLostException
import dev.holdfast.LockClient
import dev.holdfast.spring.boot.HoldfastAutoConfiguration
import java.time.Duration
import java.util.Optional
import java.util.concurrent.CompletableFuture
import java.util.concurrent.CountDownLatch
import java.util.concurrent.atomic.AtomicInteger
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.Deferred
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitAll
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.delay
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.emptyFlow
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withContext
import org.assertj.core.api.Assertions.assertThat
import org.assertj.core.api.Assertions.assertThatThrownBy
import org.awaitility.Awaitility.await
import org.junit.jupiter.api.Test
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.Arguments
import org.junit.jupiter.params.provider.MethodSource
import org.springframework.boot.autoconfigure.AutoConfigurations
import org.springframework.boot.test.context.runner.ApplicationContextRunner
import org.springframework.http.ResponseEntity
import reactor.core.publisher.Mono

/** Suspending functions with [HoldLock]. */
class HoldLockSuspendTest {
    private val application = ApplicationContextRunner()
        .withConfiguration(
            AutoConfigurations.of(HoldfastAutoConfiguration::class.java, LockAnnotationsAutoConfiguration::class.java)
        )
        .withPropertyValues("holdfast.store=mem:")

    @Test
    fun aSuspendedFunctionHoldsTheLockUntilItReturns() = with { prices, client ->
        val work = CompletableDeferred<String>()
        runBlocking {
            val price = async(Dispatchers.Default) { prices.of(7, work) }
            await().atMost(LONG).until { isHeld(client, "price:7") }
            work.complete("12")
            assertThat(price.await()).isEqualTo("12")
        }
        isFree(client, "price:7")
    }

    @Test
    fun twoCallsAtOnceRunOneAfterTheOther() = with { prices, client ->
        runBlocking {
            val tokens = (1..16).map { async(Dispatchers.Default) { prices.alone() } }.awaitAll()
            assertThat(tokens).doesNotHaveDuplicates()
        }
        assertThat(prices.mostAtOnce.get()).isEqualTo(1)
        isFree(client, "alone")
    }

    @Test
    fun aFailureReleasesTheLockAndIsThrownAsItIs() = with { prices, client ->
        assertThatThrownBy { runBlocking { prices.fails() } }
            .isInstanceOf(IllegalStateException::class.java)
            .hasMessage("no price")
        isFree(client, "fails")
    }

    @Test
    fun aCancelledCallReleasesTheLock() = with { prices, client ->
        runBlocking {
            val call = launch(Dispatchers.Default) { prices.of(7, CompletableDeferred()) }
            await().atMost(LONG).until { isHeld(client, "price:7") }
            call.cancelAndJoin()
        }
        isFree(client, "price:7")
    }

    @Test
    fun aCancelledCallReleasesTheLockWhenItsBlockingCodeHasEnded() = with { prices, client ->
        val begun = CountDownLatch(1)
        val mayEnd = CountDownLatch(1)
        runBlocking {
            val call = launch(Dispatchers.Default) { prices.blocks(begun, mayEnd) }
            begun.await()
            call.cancelAndJoin()
        }
        assertThat(client.lock("price:7").tryAcquire(Duration.ofMillis(200))).isEmpty()
        mayEnd.countDown()
        isFree(client, "price:7")
    }

    @Test
    fun aCancelledCallReleasesTheLockWhenTheSecondFunctionInsideItHasEnded() = with { prices, client ->
        val begun = CountDownLatch(1)
        val mayEnd = CountDownLatch(1)
        runBlocking {
            val call = launch(Dispatchers.Default) { prices.outer { prices.blocks(begun, mayEnd) } }
            begun.await()
            call.cancelAndJoin()
        }
        assertThat(client.lock("outer").tryAcquire(Duration.ofMillis(200))).isEmpty()
        mayEnd.countDown()
        isFree(client, "outer")
    }

    @Test
    fun aCancelledCallReleasesTheLockWhenItHasCleanedUp() = with { prices, client ->
        val begun = CompletableDeferred<Unit>()
        val mayEnd = CompletableDeferred<Unit>()
        runBlocking {
            val call = launch(Dispatchers.Default) { prices.cleansUp(begun, mayEnd) }
            begun.await()
            call.cancelAndJoin()
        }
        assertThat(client.lock("price:7").tryAcquire(Duration.ofMillis(200))).isEmpty()
        mayEnd.complete(Unit)
        isFree(client, "price:7")
    }

    @Test
    fun aCallThatWaitsSuspendsAndLeavesTheQueueWhenItIsCancelled() = with { prices, client ->
        val hold = client.lock("price:7").acquire()
        runBlocking {
            // runs on this thread until it suspends
            val call = launch(start = CoroutineStart.UNDISPATCHED) { prices.of(7, CompletableDeferred("12")) }
            assertThat(call.isActive).isTrue()
            call.cancelAndJoin()
        }
        hold.close()
        isFree(client, "price:7")
    }

    @Test
    fun aLockThatIsBusyThrowsOrSkips() = with { prices, client ->
        client.lock("busy").acquire().use {
            assertThatThrownBy { runBlocking { prices.asksOnce() } }.isInstanceOf(LockNotAcquiredException::class.java)
            assertThat(runBlocking { prices.skips() }).isNull()
            runBlocking { prices.skipsNothing() }
        }
        assertThat(prices.runs.get()).isZero()
        assertThat(runBlocking { prices.skips() }).isEqualTo("ran")
    }

    @Test
    fun aLossIsThrownInPlaceOfTheResult() = with { prices, client ->
        assertThatThrownBy { runBlocking { prices.loses(client) } }.isInstanceOf(HoldLostException::class.java)
    }

    @ParameterizedTest
    @MethodSource("refused")
    fun whatCannotBeHeldUntilItHasCompletedIsRefusedAtTheStart(bean: Class<*>, reason: String) {
        application.withBean(bean).run { context ->
            assertThat(context.startupFailure).rootCause().hasMessageContaining(reason)
        }
    }

    private fun with(action: (Prices, LockClient) -> Unit) {
        application.withBean(Prices::class.java).run { context ->
            action(context.getBean(Prices::class.java), context.getBean(LockClient::class.java))
        }
    }

    private fun isHeld(client: LockClient, name: String) = client.lock(name).status().grant().isPresent

    private fun isFree(client: LockClient, name: String) {
        await().atMost(LONG).until { !isHeld(client, name) }
    }

    open class Prices {
        open val runs = AtomicInteger() // open: the bean is a proxy
        open val mostAtOnce = AtomicInteger()
        private val atOnce = AtomicInteger()

        @HoldLock("price:#{#id}")
        open suspend fun of(id: Long, work: CompletableDeferred<String>): String = work.await()

        @HoldLock("outer")
        open suspend fun outer(body: suspend () -> Unit) = body()

        @HoldLock("price:7")
        open suspend fun blocks(begun: CountDownLatch, mayEnd: CountDownLatch) {
            begun.countDown()
            mayEnd.await()
        }

        @HoldLock("price:7")
        open suspend fun cleansUp(begun: CompletableDeferred<Unit>, mayEnd: CompletableDeferred<Unit>) {
            try {
                begun.complete(Unit)
                awaitCancellation()
            } finally {
                withContext(NonCancellable) { mayEnd.await() }
            }
        }

        @HoldLock("alone")
        open suspend fun alone(hold: Hold? = null): Long {
            mostAtOnce.accumulateAndGet(atOnce.incrementAndGet(), Math::max)
            delay(2)
            atOnce.decrementAndGet()
            return hold!!.token()
        }

        @HoldLock("fails")
        open suspend fun fails() {
            delay(1)
            throw IllegalStateException("no price")
        }

        @HoldLock("busy", waitTime = "0s")
        open suspend fun asksOnce(): String = "ran".also { runs.incrementAndGet() }

        @HoldLock("busy", waitTime = "0s", notAcquired = NotAcquired.SKIP)
        open suspend fun skips(): String? = "ran"

        @HoldLock("busy", waitTime = "0s", notAcquired = NotAcquired.SKIP)
        open suspend fun skipsNothing() {
            runs.incrementAndGet()
        }

        @HoldLock("lost", lease = "6s")
        open suspend fun loses(client: LockClient, hold: Hold? = null): String {
            delay(1)
            HoldLockTest.lose(client, hold!!)
            return "12"
        }
    }

    open class NeverNull {
        @HoldLock("a", waitTime = "0s", notAcquired = NotAcquired.SKIP)
        open suspend fun run(): String = "ran"
    }

    open class LaterFlow {
        @HoldLock("a")
        open suspend fun run(): Flow<String> = emptyFlow()
    }

    open class LaterMono {
        @HoldLock("a")
        open suspend fun run(): Mono<String> = Mono.just("ran")
    }

    open class LaterDeferred {
        @HoldLock("a")
        open suspend fun run(): Deferred<String> = CompletableDeferred("ran")
    }

    open class LaterResponse {
        @HoldLock("a")
        open suspend fun run(): ResponseEntity<Flow<String>> = ResponseEntity.ok(emptyFlow())
    }

    open class LaterFuture {
        @HoldLock("a")
        open suspend fun run(): CompletableFuture<String> = CompletableFuture()
    }

    open class SkippedOptional {
        @HoldLock("a", waitTime = "0s", notAcquired = NotAcquired.SKIP)
        open suspend fun run(): Optional<String> = Optional.of("ran")
    }

    open class SuspendingOnce {
        @Once(every = "1h")
        open suspend fun run() = delay(1)
    }

    open class SuspendingLeader {
        @LeaderOnly("a")
        open suspend fun run() = delay(1)
    }

    companion object {
        private val LONG = Duration.ofMinutes(1)

        @JvmStatic
        fun refused() = listOf(
            Arguments.of(NeverNull::class.java, "NeverNull.run may skip the call, and a skipped call returns null"),
            Arguments.of(LaterFlow::class.java, "returns a Flow, whose work goes on later"),
            Arguments.of(LaterMono::class.java, "returns a Mono, whose work goes on later"),
            Arguments.of(LaterDeferred::class.java, "returns a Deferred, whose work goes on later"),
            Arguments.of(LaterResponse::class.java, "returns a ResponseEntity<Flow>, whose work goes on later"),
            Arguments.of(LaterFuture::class.java, "returns a CompletableFuture, whose work goes on later"),
            Arguments.of(SkippedOptional::class.java, "a skipped call returns null"),
            Arguments.of(SuspendingOnce::class.java, "cannot be on a suspending function"),
            Arguments.of(SuspendingLeader::class.java, "cannot be on a suspending function"),
        )
    }
}
