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
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Which locks this user has broken on this machine, and why: a line for each in {@code breaks.log} beside the default
 * store. The stores have no place for it.
 *
 * <pre>
 *   TIME ⇥ USER@HOST ⇥ STORE ⇥ NAME ⇥ TOKEN ⇥ HOLDER ⇥ lease | now ⇥ REASON [⇥ unknown]
 * </pre>
 *
 * <p>The last word is there if the store's answer was lost: the lock may have been broken or not.
 *
 * @param file where
 */
record BreakJournal(Path file) {
    private static final String NAME = "breaks.log";
    private static final String OWNER_ALONE = "rw-------";
    private static final int FIELDS = 8;
    private static final String NOW = "now";
    private static final String UNKNOWN = "unknown";

    /**
     * A lock that was broken, or may have been.
     *
     * @param at when, to the second
     * @param by who, as USER@HOST
     * @param store without secrets
     * @param name the lock, as {@link #isOf} compares it
     * @param token of the grant
     * @param holder who lost it
     * @param atOnce whether the next one got it before the lease had run out
     * @param reason as it was given; may be empty
     * @param confirmed whether the store has answered that it was broken
     */
    record Entry(
            Instant at,
            String by,
            String store,
            String name,
            long token,
            String holder,
            boolean atOnce,
            String reason,
            boolean confirmed) {
        static Entry now(
                String store, String name, LockStatus.Held held, boolean atOnce, String reason, boolean confirmed) {
            String by = System.getProperty("user.name", "?") + "@" + ThisHost.name();
            Instant at = Instant.now().truncatedTo(ChronoUnit.SECONDS);
            String holder = held.holder().toString();
            return new Entry(at, by, store, name, held.token(), holder, atOnce, reason, confirmed);
        }

        /** Empty if the line is none of ours. */
        private static Optional<Entry> parse(String line) {
            String[] field = line.split("\t", -1);
            boolean unknown = field.length == FIELDS + 1 && field[FIELDS].equals(UNKNOWN);
            if (field.length != FIELDS && !unknown) {
                return Optional.empty();
            }
            try {
                Instant at = Instant.parse(field[0]);
                long token = Long.parseLong(field[4]);
                boolean atOnce = field[6].equals(NOW);
                return Optional.of(
                        new Entry(at, field[1], field[2], field[3], token, field[5], atOnce, field[7], !unknown));
            } catch (RuntimeException foreign) {
                return Optional.empty();
            }
        }

        /** Whether it is about the lock of this name; blanks around a name belong to it. */
        boolean isOf(String lock) {
            return Printable.text(name).equals(Printable.text(lock));
        }

        private String line() {
            String line = Stream.of(
                            at.toString(),
                            by,
                            store,
                            name,
                            Long.toString(token),
                            holder,
                            atOnce ? NOW : "lease",
                            Printable.oneLine(reason))
                    .map(Printable::text)
                    .collect(Collectors.joining("\t"));
            return confirmed ? line : line + "\t" + UNKNOWN;
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
            fields.put("confirmed", confirmed);
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
