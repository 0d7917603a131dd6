package dev.holdfast.cli;

import dev.holdfast.LockStatus;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Which locks this user has broken on this machine, and why: a line for each in {@code breaks.log} beside the default
 * store. The stores have no place for it.
 *
 * <pre>
 *   TIME ⇥ USER@HOST ⇥ STORE ⇥ NAME ⇥ TOKEN ⇥ HOLDER ⇥ lease | now ⇥ REASON
 * </pre>
 *
 * @param file where
 */
record BreakJournal(Path file) {
    private static final String NAME = "breaks.log";
    private static final String OWNER_ALONE = "rw-------";
    private static final int FIELDS = 8;
    private static final String NOW = "now";

    /**
     * A lock that was broken.
     *
     * @param at when, to the second
     * @param by who, as USER@HOST
     * @param store without secrets
     * @param name the lock
     * @param token of the grant
     * @param holder who lost it
     * @param atOnce whether the next one got it before the lease had run out
     * @param reason as it was given; may be empty
     */
    record Entry(
            Instant at,
            String by,
            String store,
            String name,
            long token,
            String holder,
            boolean atOnce,
            String reason) {
        static Entry now(String store, String name, LockStatus.Held held, boolean atOnce, String reason) {
            String by = System.getProperty("user.name", "?") + "@" + ThisHost.name();
            Instant at = Instant.now().truncatedTo(ChronoUnit.SECONDS);
            return new Entry(at, by, store, name, held.token(), held.holder().toString(), atOnce, reason);
        }

        /** Empty if the line is none of ours. */
        private static Optional<Entry> parse(String line) {
            String[] field = line.split("\t", -1);
            if (field.length != FIELDS) {
                return Optional.empty();
            }
            try {
                Instant at = Instant.parse(field[0]);
                long token = Long.parseLong(field[4]);
                return Optional.of(
                        new Entry(at, field[1], field[2], field[3], token, field[5], field[6].equals(NOW), field[7]));
            } catch (RuntimeException foreign) {
                return Optional.empty();
            }
        }

        private String line() {
            return Stream.of(
                            at.toString(),
                            by,
                            store,
                            name,
                            Long.toString(token),
                            holder,
                            atOnce ? NOW : "lease",
                            reason)
                    .map(Printable::oneLine)
                    .reduce((one, two) -> one + "\t" + two)
                    .orElse("");
        }

        Map<String, Object> json() {
            Map<String, Object> fields = new LinkedHashMap<>();
            fields.put("name", name);
            fields.put("token", token);
            fields.put("holder", holder);
            fields.put("at", at.toString());
            fields.put("by", by);
            fields.put("now", atOnce);
            fields.put("reason", reason);
            return fields;
        }
    }

    /** The journal of this user; empty where this user has no folder of its own. */
    static Optional<BreakJournal> ofUser() {
        try {
            return Optional.of(
                    new BreakJournal(new UserFolders(System.getenv()).state().resolve(NAME)));
        } catch (CliException noFolder) {
            return Optional.empty();
        }
    }

    /** Adds an entry; a sentence about what went wrong if it could not be kept. */
    Optional<String> add(Entry entry) {
        try {
            UserFolders.make(Objects.requireNonNull(file.getParent()));
            createForItsOwnerAlone();
            Files.write(file, (entry.line() + "\n").getBytes(StandardCharsets.UTF_8), StandardOpenOption.APPEND);
            return Optional.empty();
        } catch (IOException | UnsupportedOperationException e) {
            return Optional.of("the reason could not be kept in " + file + ": " + e);
        }
    }

    private void createForItsOwnerAlone() throws IOException {
        try {
            Files.createFile(file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(OWNER_ALONE)));
        } catch (FileAlreadyExistsException e) {
            // as it should be after the first
        }
    }

    /** What was broken on a store, the last first; nothing where the journal cannot be read. */
    List<Entry> on(String store) {
        try (Stream<String> lines = Files.lines(file)) {
            List<Entry> found = lines.flatMap(line -> Entry.parse(line).stream())
                    .filter(entry -> entry.store().equals(store))
                    .toList();
            List<Entry> last = new ArrayList<>(found);
            Collections.reverse(last);
            return last;
        } catch (IOException | UncheckedIOException e) {
            return List.of();
        }
    }
}
