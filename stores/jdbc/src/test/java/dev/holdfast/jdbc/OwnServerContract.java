package dev.holdfast.jdbc;

import java.util.Objects;
import java.util.Set;

/** The contract on a server that the user names; {@code ./dev kit} runs it, no other run does. */
class OwnServerContract extends ServerStoreContract {
    @Override
    protected String jdbcUrl() {
        return Objects.requireNonNull(System.getenv("HOLDFAST_KIT_URL"), "no HOLDFAST_KIT_URL; see tck/kit --help");
    }

    /** The kit cannot stop a server that is not its own. */
    @Override
    protected Set<String> expectedSkips() {
        return with(super.expectedSkips(), "Outages", "ClientOutages");
    }
}
