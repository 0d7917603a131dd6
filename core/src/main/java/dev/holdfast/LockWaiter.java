package dev.holdfast;

import java.time.Duration;

/**
 * A waiter of a lock, as a store shows it to people; it may be out of date when it arrives.
 *
 * <pre>{@code
 * client.waiters("order:*").orElse(List.of()).forEach(each -> System.out.println(each.name() + ": " + each.who()));
 * }</pre>
 *
 * @param name the lock
 * @param who the client that waits
 * @param mode how it is to be held
 * @param waited how long it has waited, by the store's clock
 */
public record LockWaiter(String name, Holder who, LockMode mode, Duration waited) {
    /** The same under another name. */
    public LockWaiter withName(String newName) {
        return new LockWaiter(newName, who, mode, waited);
    }
}
