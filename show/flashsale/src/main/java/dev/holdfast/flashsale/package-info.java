/**
 * A ticket sale that is attacked: servers in processes of their own, a balancer before them, buyers, and a page with
 * buttons that stop and kill servers. Started by {@code ./holdfast sale}.
 */
@NullMarked
package dev.holdfast.flashsale;

import org.jspecify.annotations.NullMarked;
