package dev.holdfast.ladder.sql;

/** Who inserts the row has the lock. A process that is killed leaves its row for ever. */
public final class UniqueRow extends SqlRung {
    /** A client of the database at the URL. */
    public UniqueRow(String url) {
        super(url);
    }

    @Override
    public boolean run(String name, Work work) {
        // snippet ladderUniqueRow
        if (change("INSERT INTO locked (name) VALUES (?)", name) == 0) {
            return false;
        }
        try {
            work.run(NO_TOKEN);
        } finally {
            change("DELETE FROM locked WHERE name = ?", name);
        }
        return true;
        // end
    }
}
