package dev.holdfast.spring.boot;

import dev.holdfast.LockClient;
import dev.holdfast.LockStatus;
import dev.holdfast.StoreUnavailableException;
import java.security.Principal;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.annotation.RegisterReflectionForBinding;
import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.annotation.DeleteOperation;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;

/**
 * The locks that are held or waited for: {@code GET /actuator/locks?pattern=order:*}; and one that breaks a lock by the
 * token that was shown: {@code DELETE /actuator/locks/lockClient/order:42?token=…&now=false}.
 *
 * <p>Breaking needs {@code management.endpoint.locks.access=unrestricted} and a caller who is logged in; it is logged,
 * refused or not, also if its outcome is unknown.
 */
@Endpoint(id = "locks", defaultAccess = Access.READ_ONLY)
public final class LocksEndpoint {
    private static final int FORBIDDEN = 403;
    private static final System.Logger LOG = System.getLogger("dev.holdfast.spring");

    private final Map<String, LockClient> clients;
    private final StoreQuestions stores;

    LocksEndpoint(Map<String, LockClient> clients) {
        this.clients = Map.copyOf(clients);
        this.stores = new StoreQuestions(clients);
    }

    /**
     * A lock as people see it.
     *
     * @param name the lock
     * @param mode how it is held; null where nobody holds it
     * @param token the lowest token of its grant, by which it can be broken, as text: it has more digits than a JSON number
     * @param holder who holds it
     * @param heldForMillis since how long
     * @param leaseLeftMillis how much of the lease is left
     * @param waiting how many clients wait; 0 where the store does not know that, as Memcached
     */
    public record Shown(
            String name,
            @Nullable String mode,
            @Nullable String token,
            @Nullable String holder,
            @Nullable Long heldForMillis,
            @Nullable Long leaseLeftMillis,
            int waiting) {
        static Shown of(LockStatus status) {
            return status.grant()
                    .map(held -> new Shown(
                            status.name(),
                            held.mode().name(),
                            Long.toString(held.token()),
                            held.holder().toString(),
                            held.heldFor().toMillis(),
                            held.leaseLeft().toMillis(),
                            status.waiting()))
                    .orElseGet(() -> new Shown(status.name(), null, null, null, null, null, status.waiting()));
        }
    }

    /**
     * What is shown of a client whose store does not answer.
     *
     * @param failure the reason
     */
    public record NoAnswer(String failure) {}

    /**
     * Lists locks, client by client: for each a list of {@link Shown}, or {@link NoAnswer} if its store gave none within a
     * second. All stores are asked at one time.
     *
     * @param pattern which names, as for {@link LockClient#list}; null for all
     */
    @ReadOperation
    @RegisterReflectionForBinding({Shown.class, NoAnswer.class}) // the type of the result does not show them
    public Map<String, Object> list(@Nullable String pattern) {
        return stores.ask(
                client -> client.list(pattern == null ? "*" : pattern).stream()
                        .map(Shown::of)
                        .toList(),
                NoAnswer::new);
    }

    /**
     * Breaks a lock.
     *
     * @param client the bean's name
     * @param token the token that was shown
     * @param now whether the next holder gets it immediately, while the first may still be at work; null for no
     * @param path the lock's name, which is in parts if it contains slashes
     */
    @DeleteOperation
    public WebEndpointResponse<String> breakLock(
            SecurityContext security,
            @Selector String client,
            long token,
            @Nullable Boolean now,
            @Selector(match = Selector.Match.ALL_REMAINING) String... path) {
        String name = String.join("/", path);
        Principal caller = security.getPrincipal();
        if (caller == null) {
            return answer(FORBIDDEN, "no caller is logged in", client, name, "an unknown caller");
        }
        LockClient of = clients.get(client);
        if (of == null) {
            return answer(
                    WebEndpointResponse.STATUS_NOT_FOUND, "there is no such client", client, name, caller.getName());
        }
        try {
            boolean broken = of.breakGrant(name, token, Boolean.TRUE.equals(now));
            return broken
                    ? answer(WebEndpointResponse.STATUS_OK, "broken", client, name, caller.getName())
                    : answer(
                            WebEndpointResponse.STATUS_NOT_FOUND,
                            "that grant has ended",
                            client,
                            name,
                            caller.getName());
        } catch (StoreUnavailableException noAnswer) {
            return answer(
                    WebEndpointResponse.STATUS_SERVICE_UNAVAILABLE,
                    "it is unknown whether it was broken; list the locks before you break it again: "
                            + noAnswer.getMessage(),
                    client,
                    name,
                    caller.getName());
        } catch (RuntimeException failed) {
            log("failed: " + failed.getMessage(), client, name, caller.getName());
            throw failed;
        }
    }

    private static WebEndpointResponse<String> answer(
            int status, String what, String client, String name, String caller) {
        log(what, client, name, caller);
        return new WebEndpointResponse<>(what, status);
    }

    /** One line, whatever the caller sent. */
    private static void log(String what, String client, String name, String caller) {
        LOG.log(
                System.Logger.Level.WARNING,
                () -> ("actuator: " + caller + " asked to break '" + name + "' of client '" + client + "': " + what)
                        .replaceAll("\\p{Cntrl}", "?"));
    }
}
