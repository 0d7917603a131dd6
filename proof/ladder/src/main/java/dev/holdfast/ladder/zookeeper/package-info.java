/** The recipes of the textbooks in ZooKeeper. */
@NullMarked
package dev.holdfast.ladder.zookeeper;

import org.jspecify.annotations.NullMarked;
