package dev.holdfast.flashsale.guard;

import dev.holdfast.Hold;
import dev.holdfast.HoldLostException;
import dev.holdfast.HoldOptions;
import dev.holdfast.LockClient;
import dev.holdfast.StaleTokenException;
import dev.holdfast.flashsale.shop.Order;
import dev.holdfast.flashsale.shop.Sale;
import dev.holdfast.flashsale.shop.Shop;
import java.time.Duration;
import java.util.Optional;

/** A lock of Holdfast around the section, whose token the database checks. A refused order begins again. */
final class HoldfastGuard implements Guard {
    private final LockClient client;
    private final HoldOptions options;
    private final Section section;
    private final Shop shop;

    HoldfastGuard(LockClient client, HoldOptions options, Section section, Shop shop) {
        this.client = client;
        this.options = options;
        this.section = section;
        this.shop = shop;
    }

    @Override
    public Outcome sell(Sale sale, Order order, Duration patience) throws InterruptedException {
        long end = System.nanoTime() + patience.toNanos();
        while (true) {
            Duration left = Duration.ofNanos(Math.max(0, end - System.nanoTime()));
            // code holdfast
            Optional<Hold> held = client.lock("sale:" + sale.id(), options).tryAcquire(left);
            if (held.isEmpty()) {
                return Outcome.TOO_BUSY;
            }
            // end
            Optional<Outcome> outcome = sell(sale, order, held.get());
            if (outcome.isPresent()) {
                return outcome.get();
            }
        }
    }

    private Optional<Outcome> sell(Sale sale, Order order, Hold held) {
        Optional<Outcome> outcome = Optional.empty();
        long since = System.currentTimeMillis(); // for the page's picture alone
        try (Hold hold = held) {
            outcome = Optional.of(Outcome.of(section.sellFenced(sale, order, hold.token())));
        } catch (StaleTokenException late) {
            shop.noteRefusal(order, late, since);
        } catch (HoldLostException lost) {
            // What was written had the database's consent: the token was checked in its transaction.
        }
        return outcome;
    }
}
