/** Locks for Spring beans: annotations on methods, leadership as events, and what their bodies can ask. */
@NullMarked
package dev.holdfast.spring;

import org.jspecify.annotations.NullMarked;
