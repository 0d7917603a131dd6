package dev.holdfast.spring;

import dev.holdfast.HoldOptions;
import dev.holdfast.LockClient;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.beans.factory.ListableBeanFactory;

/**
 * The lock clients of an application by name, and the hold options that the properties set for each.
 *
 * <pre>{@code
 * try (Hold hold = clients.client("orders").lock("order:42", clients.options("orders")).acquire()) {
 *     orders.charge(42, hold.token());
 * }
 * }</pre>
 *
 * <p>Thread-safe.
 */
public final class LockClients {
    private static final String SUFFIX = "LockClient";
    private static final String UNNAMED = "lockClient";

    private final ListableBeanFactory beans;
    private final HoldOptions unnamed;
    private final Map<String, HoldOptions> named;
    private final Map<String, LockClient> found = new ConcurrentHashMap<>();

    /**
     * The clients that are beans.
     *
     * @param beans where they are
     * @param unnamed the options for clients that {@code named} does not contain
     * @param named the options of clients by their names
     */
    public LockClients(ListableBeanFactory beans, HoldOptions unnamed, Map<String, HoldOptions> named) {
        this.beans = beans;
        this.unnamed = unnamed;
        this.named = Map.copyOf(named);
    }

    /**
     * A client.
     *
     * @param name {@code NAME} for the bean {@code NAMELockClient} or {@code NAME}; empty for the only client, or the
     *     primary one
     * @throws IllegalStateException if there is none, or there are several and {@code name} is empty; the message lists
     *     them
     */
    public LockClient client(String name) {
        LockClient known = found.get(name);
        if (known == null) {
            known = find(name); // may make the bean: outside of the map's own lock
            found.put(name, known);
        }
        return known;
    }

    /** How a client's locks are held, as the properties say. */
    public HoldOptions options(String name) {
        HoldOptions own = named.get(name.endsWith(SUFFIX) ? name.substring(0, name.length() - SUFFIX.length()) : name);
        if (own != null) {
            return own;
        }
        boolean isTheOnlyOne = name.isEmpty() && named.size() == 1 && !beans.containsBean(UNNAMED);
        return isTheOnlyOne ? named.values().iterator().next() : unnamed;
    }

    private LockClient find(String name) {
        if (name.isEmpty()) {
            LockClient only = beans.getBeanProvider(LockClient.class).getIfUnique();
            if (only == null) {
                throw new IllegalStateException("there is not exactly one lock client, but " + names()
                        + ": say which with client = \"NAME\", or set holdfast.store for the one without a name");
            }
            return only;
        }
        for (String bean : new String[] {name + SUFFIX, name}) {
            if (beans.containsBean(bean) && beans.isTypeMatch(bean, LockClient.class)) {
                return beans.getBean(bean, LockClient.class);
            }
        }
        throw new IllegalStateException(
                "there is no lock client '" + name + "', but " + names() + ": set holdfast.clients." + name + ".store");
    }

    private String names() {
        return Arrays.toString(beans.getBeanNamesForType(LockClient.class));
    }
}
