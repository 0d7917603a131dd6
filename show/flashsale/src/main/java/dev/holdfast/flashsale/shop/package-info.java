/** The tickets, the orders and the accounts in the database, and what changes them. */
@NullMarked
package dev.holdfast.flashsale.shop;

import org.jspecify.annotations.NullMarked;
