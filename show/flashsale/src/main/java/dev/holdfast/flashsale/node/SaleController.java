package dev.holdfast.flashsale.node;

import dev.holdfast.flashsale.guard.Faults;
import dev.holdfast.flashsale.guard.Guards;
import dev.holdfast.flashsale.shop.Order;
import dev.holdfast.flashsale.shop.Sale;
import dev.holdfast.flashsale.shop.Shop;
import io.swagger.v3.oas.annotations.Operation;
import io.swagger.v3.oas.annotations.responses.ApiResponse;
import java.time.Duration;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

/** The answers of a sale: got it (201), sold out (409), too many people (429). */
@RestController
final class SaleController {
    private static final Duration TEN_SECONDS = Duration.ofSeconds(10);

    private final Shop shop;
    private final Checkout checkout;
    private final Faults faults;
    private final String node;
    private final Duration patience;
    private final Secret secret;

    SaleController(
            Shop shop,
            Checkout checkout,
            Faults faults,
            @Value("${sale.node}") String node,
            @Value("${sale.patience}") Duration patience,
            Secret secret) {
        this.shop = shop;
        this.checkout = checkout;
        this.faults = faults;
        this.node = node;
        this.patience = patience;
        this.secret = secret;
    }

    /** A sale as its row says. */
    record SaleAnswer(String id, String guard, int stock, long remaining) {}

    @Operation(summary = "Says what guards a sale, and what is left")
    @ApiResponse(responseCode = "200")
    @GetMapping("/sales/{id}")
    SaleAnswer sale(@PathVariable String id) {
        Sale sale = find(id);
        return new SaleAnswer(id, sale.guard(), sale.stock(), Guards.left(shop, sale));
    }

    @Operation(summary = "Orders tickets; sent again with its key, an order is still one order")
    @ApiResponse(responseCode = "201", description = "got it, also when it is sent again")
    @Refusals
    @PostMapping("/sales/{id}/orders")
    @ResponseStatus(HttpStatus.CREATED)
    Order order(
            @PathVariable String id,
            @RequestHeader(name = "Idempotency-Key", required = false) @Nullable String key,
            @RequestBody OrderRequest request)
            throws InterruptedException {
        Sale sale = find(id);
        return sell(sale, new Order(id, Checkout.key(key), quantity(request, sale), node), sale.guard(), patience);
    }

    /** One ticket, as the articles have it: waits for the lock for up to ten seconds. */
    @Operation(summary = "Orders one ticket; waits for its turn for up to ten seconds")
    @ApiResponse(responseCode = "201", description = "got it")
    @Refusals
    @PostMapping("/lock10")
    @ResponseStatus(HttpStatus.CREATED)
    Order lock10(@RequestParam(defaultValue = "1") String sale) throws InterruptedException {
        Sale found = find(sale);
        Order order = new Order(sale, UUID.randomUUID().toString(), 1, node);
        return sell(found, order, found.guard().equals(Guards.SPLIT) ? Guards.SPLIT : Guards.HOLDFAST, TEN_SECONDS);
    }

    /** Arms a fault, for the program that has started this server; the balancer does not pass this path on. */
    @PostMapping("/faults/{fault}")
    Map<String, String> arm(
            @PathVariable String fault,
            @RequestHeader(name = "Host", defaultValue = "") String host,
            @RequestHeader(name = "Sale-Secret", defaultValue = "") String said) {
        secret.check(host, said);
        switch (fault) {
            case "pause" -> faults.arm(Faults.Fault.PAUSE);
            case "kill" -> faults.arm(Faults.Fault.KILL);
            case "cut" -> faults.arm(Faults.Fault.CUT);
            case "none" -> faults.disarm();
            default -> throw new Refusal(HttpStatus.NOT_FOUND, "There is no fault '" + fault + "'.");
        }
        return Map.of("armed", fault);
    }

    private Order sell(Sale sale, Order order, String guard, Duration wait) throws InterruptedException {
        return checkout.take(
                sale, order, guard, wait, "Sold out: fewer than " + order.quantity() + " tickets are left.");
    }

    private Sale find(String id) {
        return shop.find(id)
                .filter(sale -> !sale.isAccount())
                .orElseThrow(() -> new Refusal(HttpStatus.NOT_FOUND, "There is no sale '" + id + "'."));
    }

    private static int quantity(OrderRequest request, Sale sale) {
        Integer quantity = request.quantity();
        if (quantity == null || quantity < 1 || quantity > sale.stock()) {
            throw new Refusal(HttpStatus.BAD_REQUEST, "The quantity must be 1 to " + sale.stock() + ".");
        }
        return quantity;
    }
}
