/** The recipes of the textbooks in etcd. */
@NullMarked
package dev.holdfast.ladder.etcd;

import org.jspecify.annotations.NullMarked;
