/**
 * Locks kept in ZooKeeper, through Curator's client. Start at {@link dev.holdfast.zookeeper.ZooKeeperStores} for a client
 * of your own, or give a {@code zk://} URL to {@link dev.holdfast.LockClient#connect}.
 */
@NullMarked
package dev.holdfast.zookeeper;

import org.jspecify.annotations.NullMarked;
