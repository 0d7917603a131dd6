/** Locks kept in etcd 3, through jetcd. */
@NullMarked
package dev.holdfast.etcd;

import org.jspecify.annotations.NullMarked;
