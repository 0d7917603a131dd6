package dev.holdfast.flashsale.node;

import dev.holdfast.flashsale.guard.Guards;
import dev.holdfast.flashsale.shop.Order;
import dev.holdfast.flashsale.shop.Sale;
import dev.holdfast.flashsale.shop.Shop;
import io.swagger.v3.oas.annotations.Operation;
import io.swagger.v3.oas.annotations.responses.ApiResponse;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

/** A couple's account: both withdraw at once, and the money is there for one of them. */
@RestController
final class AccountController {
    private final Shop shop;
    private final Checkout checkout;
    private final String node;
    private final Duration patience;

    AccountController(
            Shop shop,
            Checkout checkout,
            @Value("${sale.node}") String node,
            @Value("${sale.patience}") Duration patience) {
        this.shop = shop;
        this.checkout = checkout;
        this.node = node;
        this.patience = patience;
    }

    /** What an account says. */
    record Balance(String account, long balance) {}

    /** How much is wanted. */
    record WithdrawalRequest(@Nullable Integer amount) {}

    /** What was paid out. */
    record Withdrawal(String account, int amount, String node) {}

    @Operation(summary = "Says what an account has")
    @ApiResponse(responseCode = "200")
    @GetMapping("/accounts/{id}")
    Balance balance(@PathVariable String id) {
        Sale account = find(id);
        return new Balance(id, Guards.left(shop, account));
    }

    @Operation(summary = "Withdraws money; sent again with its key, it is still one withdrawal")
    @ApiResponse(responseCode = "201", description = "paid, also when it is sent again")
    @Refusals
    @PostMapping("/accounts/{id}/withdrawals")
    @ResponseStatus(HttpStatus.CREATED)
    Withdrawal withdraw(
            @PathVariable String id,
            @RequestHeader(name = "Idempotency-Key", required = false) @Nullable String key,
            @RequestBody WithdrawalRequest request)
            throws InterruptedException {
        Sale account = find(id);
        Order order = new Order(account.id(), Checkout.key(key), amount(request), node);
        String refusal = "The account has less than " + order.quantity() + ".";
        Order written = checkout.take(account, order, account.guard(), patience, refusal);
        return new Withdrawal(id, written.quantity(), written.node());
    }

    private Sale find(String id) {
        return shop.find(Sale.ofAccount(id))
                .orElseThrow(() -> new Refusal(HttpStatus.NOT_FOUND, "There is no account '" + id + "'."));
    }

    private static int amount(WithdrawalRequest request) {
        Integer amount = request.amount();
        if (amount == null || amount < 1) {
            throw new Refusal(HttpStatus.BAD_REQUEST, "The amount must be at least 1.");
        }
        return amount;
    }
}
