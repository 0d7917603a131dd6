package example

import dev.holdfast.DistributedLock
import dev.holdfast.Hold
import kotlin.coroutines.resumeWithException
import kotlinx.coroutines.suspendCancellableCoroutine

/**
 * Suspends until the lock is held, runs the block, and releases the lock. A coroutine that is cancelled while it waits
 * leaves the queue. If the lock was lost meanwhile, a HoldLostException is thrown after the block.
 */
suspend fun <T> DistributedLock.withHold(block: suspend (Hold) -> T): T = hold().use { block(it) }

private suspend fun DistributedLock.hold(): Hold = suspendCancellableCoroutine { waiting ->
    val claim = acquireAsync()
    waiting.invokeOnCancellation { claim.cancel(false) }
    claim.whenComplete { hold, failure ->
        if (failure == null) {
            waiting.resume(hold) { _, late, _ -> late.close() } // cancelled at the moment of the grant
        } else {
            waiting.resumeWithException(failure)
        }
    }
}
