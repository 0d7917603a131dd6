package dev.holdfast.internal;

import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;

/**
 * The two sides of a read-write lock as the JDK names them.
 *
 * @param readLock to read under
 * @param writeLock to write under
 */
record ReadWriteView(Lock readLock, Lock writeLock) implements ReadWriteLock {}
