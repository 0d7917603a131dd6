package dev.holdfast.flashsale.node;

import org.jspecify.annotations.Nullable;

/** The body of an order. */
record OrderRequest(@Nullable Integer quantity) {}
