/** A Spring Boot application's lock clients: their properties, where they come from, when they close. */
@NullMarked
package dev.holdfast.spring.boot;

import org.jspecify.annotations.NullMarked;
