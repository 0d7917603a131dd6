package dev.holdfast.ladder.sql;

/** A column says whether it is free: looked at, then set. Two who look before either sets both find it free. */
public final class QueryAndOccupy extends SqlRung {
    private final Runnable between;

    /** A client of the database at the URL. */
    public QueryAndOccupy(String url) {
        this(url, () -> {});
    }

    /** One that is held up between the look and the setting. */
    public QueryAndOccupy(String url, Runnable between) {
        super(url);
        this.between = between;
    }

    @Override
    public boolean run(String name, Work work) {
        // snippet ladderQueryAndOccupy
        if (!look("SELECT state FROM occupied WHERE name = ?", name).equals("free")) {
            return false;
        }
        between.run();
        change("UPDATE occupied SET state = 'taken' WHERE name = ?", name);
        try {
            work.run(NO_TOKEN);
        } finally {
            change("UPDATE occupied SET state = 'free' WHERE name = ?", name);
        }
        return true;
        // end
    }
}
