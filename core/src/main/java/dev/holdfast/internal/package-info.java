/**
 * The engine: the local queue, hand-over, the renewer. Written once, for every store. Not exported; nothing outside core
 * may use it.
 *
 * <p>Contents:
 *
 * <ul>
 *   <li>the front door and what its parts share: {@code Engine}
 *   <li>how a caller acquires: {@code Acquisition}, {@code MultiAcquisition},
 *       {@code CompletionThreads}, {@code OwnHold}, {@code JavaLock}
 *   <li>a name and its queues: {@code LocalLocks}, {@code LocalLock}, {@code WaitQueue}; what their steps leave to
 *       be done: {@code Effects}; the claims they send: {@code ClaimFactory}, {@code ClaimInFlight}
 *   <li>a grant's way from hold to hold, and its bounds: {@code ExclusiveQueue} with {@code Retention}, {@code SharedQueue}
 *       with {@code SharedGrant}, {@code Tokens}
 *   <li>until when a grant is valid: {@code GrantState}; the holds by it: {@code HoldState}, {@code HoldHandle}
 *   <li>renewal and release: {@code LeaseRenewer}, {@code RenewalSender} (its batches), {@code ReleaseSender}
 *   <li>the door to the store: {@code StoreLink}; a store that is opened by the first request: {@code StoreOpening};
 *       whether it answers: {@code Reachability}
 *   <li>what is reported: {@code Telemetry}, {@code EventDispatcher}, {@code FlightEvents}
 * </ul>
 */
@NullMarked
package dev.holdfast.internal;

import org.jspecify.annotations.NullMarked;
