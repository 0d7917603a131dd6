package dev.holdfast.testbed;

/**
 * A server that a test needs is not on this machine.
 *
 * <p>In CI (environment {@code CI=true}) that is a failure; elsewhere the test is skipped and named:
 *
 * <pre>{@code
 * RedisServer redis = OrSkip.orSkip(RedisServer::start);
 * }</pre>
 *
 * <p>The message says what was looked for, where, and how to get it. Immutable.
 */
public final class ServerMissingException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final String message;
    private final String server;
    private final boolean failure;

    /** A missing server by its name, where it was looked for, and how to get it. */
    public ServerMissingException(String server, String lookedFor, String howToGet) {
        this(server, lookedFor, howToGet, "true".equals(System.getenv("CI")));
    }

    ServerMissingException(String server, String lookedFor, String howToGet, boolean failure) {
        this.message = server + " is missing. Looked for: " + lookedFor + ". To get it: " + howToGet;
        this.server = server;
        this.failure = failure;
    }

    /** What was looked for, where, and how to get it; never null. */
    @Override
    public String getMessage() {
        return message;
    }

    /** The name of the server. */
    public String server() {
        return server;
    }

    /** Whether this machine is one (CI) where no server may be missing. */
    public boolean isFailure() {
        return failure;
    }
}
