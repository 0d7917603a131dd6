package dev.holdfast.jdbc;

import dev.holdfast.Holder;
import dev.holdfast.jdbc.ServerDialect.ClaimArguments;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.Mode;
import dev.holdfast.spi.support.Micros;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** What the statements of {@link RowSql} are filled with. For one thread. */
final class RowParameters {
    private static final Pattern STRANGE = Pattern.compile("\\p{Cntrl}|\\p{Cs}");
    private static final int LONGEST_TEXT = 200;

    private final ServerDialect dialect;
    private final SqlSession session;

    RowParameters(ServerDialect dialect, SqlSession session) {
        this.dialect = dialect;
        this.session = session;
    }

    ClaimArguments claim(Claim claim, @Nullable String released) {
        String id = claim.id().value();
        long lease = Micros.of(claim.lease());
        long lowest = Math.addExact(claim.floor(), 1);
        List<Object> update = new ArrayList<>(List.of(lease, lowest, lowest));
        update.addAll(texts(session, claim.holder()));
        update.addAll(List.of(id, dialect.name(claim.name()), released == null ? id : released));
        return new ClaimArguments(dialect.name(claim.name()), released != null, update, insert(claim, true));
    }

    /** A row that is held from the start, or one that is free: then the lease is 0. */
    List<Object> insert(Claim claim, boolean held) {
        long lowest = Math.addExact(claim.floor(), 1);
        List<Object> arguments = new ArrayList<>();
        arguments.add(dialect.name(claim.name()));
        arguments.add(lowest);
        arguments.add(held ? claim.id().value() : null);
        arguments.add(lowest);
        arguments.add(held ? Micros.of(claim.lease()) : 0L);
        arguments.addAll(texts(session, claim.holder()));
        return arguments;
    }

    static List<Object> texts(SqlSession session, Holder holder) {
        return List.of(
                session.kept(limited(holder.host())),
                holder.pid(),
                session.kept(limited(holder.thread())),
                session.kept(limited(holder.label())));
    }

    /** What people chose may have any length and any character; what is kept has not. */
    static String limited(String text) {
        String plain = isPlain(text) ? text : STRANGE.matcher(text).replaceAll("?");
        return plain.length() <= LONGEST_TEXT ? plain : shortened(plain);
    }

    /** No half of a character stays: no database takes it. */
    private static String shortened(String text) {
        return text.substring(
                0, Character.isHighSurrogate(text.charAt(LONGEST_TEXT - 1)) ? LONGEST_TEXT - 1 : LONGEST_TEXT);
    }

    private static boolean isPlain(String text) {
        return text.chars().allMatch(each -> each >= ' ' && each <= '~');
    }

    /** What a step has made of a row; a lease that begins with it counts from the writing on. */
    List<Object> write(String name, LockTransition step) {
        LockRow to = step.to();
        HolderEntry alone = to.exclusive();
        HolderEntry shown = alone == null ? new HolderEntry("", Mode.EXCLUSIVE, 0, 0, 0, HolderEntry.NOBODY) : alone;
        boolean moves = !endsAsBefore(alone, step.from().exclusive());
        List<Object> arguments = new ArrayList<>(Arrays.asList(
                alone == null ? null : alone.id(),
                shown.number(),
                shown.acquiredAt(),
                moves ? 1L : 0L,
                alone == null ? 0L : alone.expiresAt() - to.now(),
                to.version(),
                RowCodec.waiting(to.waiting()),
                RowCodec.sharing(to.sharing())));
        arguments.addAll(texts(session, shown.holder()));
        arguments.add(dialect.name(name));
        arguments.add(step.from().version());
        return arguments;
    }

    /** A grant that was broken keeps the end of its lease. */
    private static boolean endsAsBefore(@Nullable HolderEntry alone, @Nullable HolderEntry before) {
        return alone == before || (alone != null && before != null && alone.expiresAt() == before.expiresAt());
    }
}
