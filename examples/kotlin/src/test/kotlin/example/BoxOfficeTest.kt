package example

import dev.holdfast.LockClient
import java.time.Duration
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** With locks in memory: no server is needed. */
class BoxOfficeTest {
    @Test
    fun everyTicketIsSoldOnce() = withTwoServers { one, other ->
        val tickets = Tickets(30)
        runBlocking(Dispatchers.Default) {
            assertEquals(30, sale(listOf(BoxOffice(one, tickets), BoxOffice(other, tickets))))
        }
    }

    @Test
    fun aCancelledWaitLeavesTheQueue() = withTwoServers { one, other ->
        val lock = other.lock("tickets")
        one.lock("tickets").acquire().use {
            runBlocking {
                val waiting = launch(start = CoroutineStart.UNDISPATCHED) { lock.withHold { } }
                waiting.cancelAndJoin()
            }
        }
        assertTrue(lock.tryAcquire(Duration.ofSeconds(10)).isPresent)
    }

    @Test
    fun aCancelledHolderReleasesTheLock() = withTwoServers { one, other ->
        runBlocking {
            val holding = launch(start = CoroutineStart.UNDISPATCHED) { one.lock("tickets").withHold { awaitCancellation() } }
            holding.cancelAndJoin()
        }
        assertTrue(other.lock("tickets").tryAcquire(Duration.ofSeconds(10)).isPresent)
    }

    private fun withTwoServers(test: (LockClient, LockClient) -> Unit) {
        LockClient.connect("mem:tickets").use { one -> LockClient.connect("mem:tickets").use { test(one, it) } }
    }
}
