/** A server of the sale: a Spring Boot application on the starter. */
@NullMarked
package dev.holdfast.flashsale.node;

import org.jspecify.annotations.NullMarked;
