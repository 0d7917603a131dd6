package dev.holdfast.spi;

import dev.holdfast.Holder;
import java.time.Duration;

/**
 * The request of one client to hold a name. The engine makes at most one at a time per client and name, whatever the
 * number of local waiters.
 *
 * @param id the identity of the claim, and of the grant that may result from it
 * @param name what to hold, already prefixed by the client's namespace and checked
 * @param mode how to hold them
 * @param lease how long the grant lives unrenewed; a session-bound store answers with its own in
 *     {@link Grant#lease()}
 * @param waits whether to wait in the store's queue until granted or cancelled; otherwise the store answers at once and
 *     leaves nothing behind when the name is not free
 * @param floor the highest grant number this client has ever seen: the grant's number must be above it, so that tokens
 *     rise even when the store lost its counter
 * @param holder the claimant, for people to read
 */
public record Claim(ClaimId id, String name, Mode mode, Duration lease, boolean waits, long floor, Holder holder) {}
