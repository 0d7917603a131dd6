/** Holdfast's locks for Spring Integration. */
@NullMarked
package dev.holdfast.spring.integration;

import org.jspecify.annotations.NullMarked;
