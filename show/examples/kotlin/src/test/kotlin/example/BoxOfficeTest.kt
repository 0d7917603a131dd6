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
        one.lock("tickets").acquire().use {
            runBlocking {
                val waiting = launch(start = CoroutineStart.UNDISPATCHED) { other.lock("tickets").withHold { } }
                waiting.cancelAndJoin()
            }
        }
        assertFree(one)
    }

    @Test
    fun aCancelledHolderReleasesTheLock() = withTwoServers { one, other ->
        runBlocking {
            val holding = launch(start = CoroutineStart.UNDISPATCHED) { one.lock("tickets").withHold { awaitCancellation() } }
            holding.cancelAndJoin()
        }
        assertFree(other)
    }

    private fun assertFree(client: LockClient) {
        client.lock("tickets").tryAcquire(Duration.ofSeconds(10)).orElseThrow().close()
    }

    private fun withTwoServers(test: (LockClient, LockClient) -> Unit) {
        LockClient.connect("mem:tickets").use { one -> LockClient.connect("mem:tickets").use { test(one, it) } }
    }
}
