package dev.holdfast.flashsale;

import dev.holdfast.flashsale.guard.Guards;
import dev.holdfast.flashsale.shop.Sale;
import dev.holdfast.flashsale.shop.Shop;
import java.net.URI;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A couple with one account of 200, from which one withdraws 100 and the other 150 at once. Thread-safe. */
final class Couple {
    private static final String NAME = "couple";
    private static final int BALANCE = 200;
    private static final List<String> WITHDRAWALS = List.of("{\"amount\":100}", "{\"amount\":150}");

    private final Shop shop;
    private volatile @Nullable Buyers both;

    /**
     * Their account.
     *
     * @param balance what it says is left
     * @param paid what was paid out
     */
    record Account(long balance, long paid, Buyers.Figures withdrawals) {}

    Couple(Shop shop) {
        this.shop = shop;
    }

    /** Opens the account again, and lets both withdraw. */
    void withdraw(URI servers, String guard, int gapMillis) {
        shop.open(Sale.ofAccount(NAME), guard, BALANCE, gapMillis);
        both = Buyers.send(servers.resolve("/accounts/" + NAME + "/withdrawals"), WITHDRAWALS);
    }

    /** Their account, or null if they have not come. */
    @Nullable
    Account account() {
        Buyers sent = both;
        return sent == null
                ? null
                : shop.find(Sale.ofAccount(NAME))
                        .map(account -> new Account(
                                Guards.left(shop, account), shop.tally(account).sold(), sent.figures()))
                        .orElse(null);
    }

    /** Whether both have their answers. */
    boolean isDone() {
        Buyers sent = both;
        return sent == null || sent.isDone();
    }

    void forget() {
        both = null;
    }
}
