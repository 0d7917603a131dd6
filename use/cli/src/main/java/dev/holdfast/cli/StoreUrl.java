package dev.holdfast.cli;

import dev.holdfast.DistributedLock;
import dev.holdfast.HoldOptions;
import dev.holdfast.LockClient;
import dev.holdfast.LockClientBuilder;
import dev.holdfast.spi.StoreFence;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Which store a command works on: the option, else the environment's, else a file of this user.
 *
 * @param value the URL; it may hold secrets, show {@link #shown()} instead
 * @param source who named it
 */
record StoreUrl(String value, Source source) {
    /** Where a URL comes from. */
    enum Source {
        OPTION(HoldfastCommand.STORE),
        VARIABLE(StoreUrl.VARIABLE),
        /** Nobody named it: its folder may have to be made. */
        DEFAULT("the default");

        private final String shown;

        Source(String shown) {
            this.shown = shown;
        }
    }

    static final String VARIABLE = "HOLDFAST_STORE";

    /** May hold the password that the URL has not. */
    static final String PASSWORD_VARIABLE = "HOLDFAST_PASSWORD";

    private static final String FILE_SCHEME = "sqlite:";

    /** Ours, and those of H2. */
    private static final Pattern IN_MEMORY =
            Pattern.compile("(?:mem|jdbc:h2:(?:nio)?mem(?:fs|lz)?):", Pattern.CASE_INSENSITIVE);

    /** What the store refuses before it looks for a file, and explains. */
    private static final Pattern NO_PLAIN_PATH = Pattern.compile("^(//|:|file:|~$|~/)|\\?");

    static StoreUrl choose(@Nullable String option, Map<String, String> environment) {
        if (option != null) {
            return new StoreUrl(option, Source.OPTION);
        }
        String variable = environment.getOrDefault(VARIABLE, "");
        return variable.isEmpty()
                ? file(new UserFolders(environment).state().resolve("locks.db"), Source.DEFAULT)
                : new StoreUrl(variable, Source.VARIABLE);
    }

    static StoreUrl file(Path path, Source source) {
        return new StoreUrl(FILE_SCHEME + path, source);
    }

    boolean isDefault() {
        return source == Source.DEFAULT;
    }

    /** How to list the locks there, for those who read a message. */
    String listCommand() {
        return command("list");
    }

    /** The beginning of a command for this store, for those who read a message: another store may have such a lock too. */
    String command(String word) {
        return "holdfast " + word + (source == Source.OPTION ? " " + HoldfastCommand.STORE + "=" + shown() : "");
    }

    /** The URL without secrets. */
    String shown() {
        return SafeUrl.shown(value);
    }

    /** Whether it is a store that dies with its process, and so is of no use to a command. */
    static boolean isOfOneProcess(String url) {
        return IN_MEMORY.matcher(url).lookingAt();
    }

    /** Whether it names a file that is not there: nobody ever took a lock in it. A URL that is none names none. */
    boolean isAbsentFile() {
        if (!value.startsWith(FILE_SCHEME)) {
            return false;
        }
        String path = value.substring(FILE_SCHEME.length());
        try {
            return !NO_PLAIN_PATH.matcher(path).find() && Files.notExists(Path.of(path));
        } catch (InvalidPathException e) {
            return false; // the store says better what is wrong with it
        }
    }

    /**
     * Opens a client.
     *
     * @param label what others see beside its holds
     * @throws CliException if the URL is none
     * @throws dev.holdfast.HoldfastException if the store is not there, or refuses
     */
    LockClient open(String label) {
        return open(label, Optional.empty());
    }

    /**
     * Opens a client.
     *
     * @param label what others see beside its holds
     * @param session how long its locks should outlive it, where the store keeps them by a session; else the store's own
     * @throws CliException if the URL is none
     * @throws dev.holdfast.HoldfastException if the store is not there, or refuses
     */
    LockClient open(String label, Optional<Duration> session) {
        if (isOfOneProcess(value)) {
            throw new CliException(
                    ExitCode.USAGE,
                    "a store in memory (" + shown() + ") is known to one process alone; name one that processes share,"
                            + " as sqlite:PATH");
        }
        if (value.startsWith(FILE_SCHEME)) {
            makeFolder();
            unpackLibrary();
        } else {
            Schemes.requireKnown(this);
        }
        LockClientBuilder builder = LockClient.builder(value).label(label); // the URL is not to blame for a bad label
        try {
            String password = System.getenv(PASSWORD_VARIABLE);
            if (password != null && !password.isEmpty()) {
                builder.password(password);
            }
            session.ifPresent(builder::session);
            return builder.build();
        } catch (IllegalArgumentException e) {
            throw bad(String.valueOf(e.getMessage()), e);
        }
    }

    /** The failure of a command whose store's URL is no good. */
    CliException bad(String why, @Nullable Throwable cause) {
        return new CliException(
                ExitCode.USAGE, "bad store URL '" + shown() + "' in " + source.shown + ": " + why, cause);
    }

    /**
     * A lock of a client.
     *
     * @throws CliException if the name is none
     */
    static DistributedLock lock(LockClient client, String name, HoldOptions options) {
        try {
            return client.lock(name, options);
        } catch (IllegalArgumentException e) {
            throw new CliException(ExitCode.USAGE, String.valueOf(e.getMessage()), e);
        }
    }

    /**
     * Opens a fence in the store.
     *
     * @throws dev.holdfast.HoldfastException if the store is not there, refuses, or keeps no fences
     */
    StoreFence openFence() {
        Optional<String> password =
                Optional.ofNullable(System.getenv(PASSWORD_VARIABLE)).filter(given -> !given.isEmpty());
        return Schemes.providerOf(this).openFence(value, password);
    }

    private static void unpackLibrary() {
        new UserFolders(System.getenv()).cache().ifPresent(SqliteLibrary::unpackOnce);
    }

    private void makeFolder() {
        if (!isDefault()) {
            return;
        }
        Path folder =
                Path.of(value.substring(FILE_SCHEME.length())).toAbsolutePath().getParent();
        try {
            if (folder != null) {
                UserFolders.make(folder);
            }
        } catch (IOException | UnsupportedOperationException e) {
            throw new CliException(
                    ExitCode.STORE_UNAVAILABLE,
                    "cannot make the folder " + folder + " for the locks; make it, or name another store with --store"
                            + " or " + VARIABLE,
                    e);
        }
    }
}
