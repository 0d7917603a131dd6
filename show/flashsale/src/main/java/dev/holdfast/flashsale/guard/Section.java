package dev.holdfast.flashsale.guard;

import dev.holdfast.flashsale.shop.Order;
import dev.holdfast.flashsale.shop.Reading;
import dev.holdfast.flashsale.shop.Sale;
import dev.holdfast.flashsale.shop.Shop;

/**
 * What stands between lock and unlock: it reads the stock, takes its time, and writes what it has read less the order.
 * Right as long as nobody else does so meanwhile. The page shows the regions between "code" and "end".
 */
final class Section {
    private final Shop shop;
    private final Faults faults;

    Section(Shop shop, Faults faults) {
        this.shop = shop;
        this.faults = faults;
    }

    /** Sells, or returns false if fewer tickets are left. */
    boolean sell(Sale sale, Order order) {
        // code none
        Reading read = Reading.now(shop.remaining(sale.id()));
        if (read.left() < order.quantity()) {
            return false;
        }
        faults.strike(sale.gapMillis());
        return shop.inTransaction(() -> {
            shop.write(order, read);
            return true;
        });
        // end
    }

    /**
     * The same with the token of a hold. The token is checked when the stock is read, too: what was read under a token is
     * written only if no later holder has even read since.
     *
     * @throws dev.holdfast.StaleTokenException if a later holder was here; nothing was written
     */
    boolean sellFenced(Sale sale, Order order, long token) {
        // code holdfast
        Reading read = shop.inTransaction(() -> {
            shop.checkFence(sale.id(), token);
            return Reading.now(shop.remaining(sale.id()));
        });
        if (read.left() < order.quantity()) {
            return false;
        }
        faults.strike(sale.gapMillis());
        return shop.inTransaction(() -> {
            shop.checkFence(sale.id(), token);
            shop.write(order, read);
            return true;
        });
        // end
    }

    /** The same in one transaction that locks the row from the reading on. */
    boolean sellInTransaction(Sale sale, Order order) {
        // code pessimistic
        return shop.inTransaction(() -> {
            Reading read = Reading.now(shop.remainingForUpdate(sale.id()));
            if (read.left() < order.quantity()) {
                return false;
            }
            faults.strike(sale.gapMillis());
            shop.write(order, read);
            return true;
        });
        // end
    }
}
