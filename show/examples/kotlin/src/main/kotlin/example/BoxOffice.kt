package example

import dev.holdfast.LockClient
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitAll
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.delay

/** Tickets that several services sell, and that nothing but the lock protects. */
class Tickets(@Volatile var left: Int)

/** One server of the service. */
class BoxOffice(client: LockClient, private val tickets: Tickets) {
    private val lock = client.lock("tickets")

    /** Reads, works, writes: two at a time would sell a ticket twice. */
    suspend fun sell(): Boolean = lock.withHold {
        val left = tickets.left
        delay(2)
        if (left > 0) tickets.left = left - 1
        left > 0
    }
}

/** 100 buyers at two servers at once; the number of them that got a ticket. */
suspend fun sale(offices: List<BoxOffice>): Int = coroutineScope {
    List(100) { async { offices[it % offices.size].sell() } }.awaitAll().count { it }
}

suspend fun main() {
    val store = System.getenv("HOLDFAST_STORE") ?: "redis://127.0.0.1:6379"
    LockClient.connect(store).use { one ->
        LockClient.connect(store).use { other ->
            val tickets = Tickets(30)
            val sold = sale(listOf(BoxOffice(one, tickets), BoxOffice(other, tickets)))
            println("100 buyers, 30 tickets: sold $sold")
        }
    }
}
