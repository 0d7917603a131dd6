package dev.holdfast.spring;

/** What happens to a call whose lock could not be acquired in time. The method does not run. */
public enum NotAcquired {
    /** The caller gets a {@link LockNotAcquiredException}. */
    THROW,
    /** The call returns immediately: null, an empty {@code Optional}, a future of these, or an empty publisher. */
    SKIP
}
