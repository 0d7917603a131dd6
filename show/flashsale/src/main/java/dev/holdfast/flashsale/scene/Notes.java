package dev.holdfast.flashsale.scene;

import dev.holdfast.StaleTokenException;
import dev.holdfast.recipes.Cached;
import dev.holdfast.recipes.ClearableCache;
import dev.holdfast.recipes.Source;
import java.util.Optional;
import java.util.OptionalLong;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.simple.JdbcClient;

/**
 * Numbers with names, in the sale's database, each with the highest token that has come by. The scenes keep their cache
 * in it, and the database behind the cache. Thread-safe.
 */
public final class Notes {
    /** The table; the sale creates it. */
    public static final String TABLE = "flashsale_note";

    private final JdbcClient sql;

    /** The notes in a database. */
    public Notes(DataSource database) {
        sql = JdbcClient.create(database);
    }

    OptionalLong find(String name) {
        return sql.sql("SELECT amount FROM " + TABLE + " WHERE name = ? AND amount IS NOT NULL")
                .param(name)
                .query(Long.class)
                .optional()
                .map(OptionalLong::of)
                .orElse(OptionalLong.empty());
    }

    /** Writes an amount, or none, unless a higher token was here; then it returns false. */
    boolean write(String name, @Nullable Long amount, long token) {
        if (update(name, amount, token)) {
            return true;
        }
        try {
            sql.sql("INSERT INTO " + TABLE + " (name, amount, token) VALUES (?, ?, ?)")
                    .param(name)
                    .param(amount)
                    .param(token)
                    .update();
            return true;
        } catch (DataAccessException failure) { // each driver has its own error for a name that is there
            if (update(name, amount, token)) {
                return true;
            }
            if (!exists(name)) {
                throw failure;
            }
            return false;
        }
    }

    private boolean exists(String name) {
        return sql.sql("SELECT 1 FROM " + TABLE + " WHERE name = ?")
                .param(name)
                .query(Integer.class)
                .optional()
                .isPresent();
    }

    private boolean update(String name, @Nullable Long amount, long token) {
        return sql.sql("UPDATE " + TABLE + " SET amount = ?, token = ? WHERE name = ? AND token <= ?")
                        .param(amount)
                        .param(token)
                        .param(name)
                        .param(token)
                        .update()
                == 1;
    }

    private void raise(String name, long token) {
        sql.sql("UPDATE " + TABLE + " SET token = ? WHERE name = ? AND token < ?")
                .params(token, name, token)
                .update();
    }

    /** A cache in these notes. */
    ClearableCache<Long> cache() {
        return new ClearableCache<>() {
            @Override
            public Optional<Cached<Long>> get(String key) {
                OptionalLong found = find("cache:" + key);
                return found.isPresent() ? Optional.of(Cached.fresh(found.getAsLong())) : Optional.empty();
            }

            @Override
            public void put(String key, Long value, long token) {
                write("cache:" + key, value, token);
            }

            @Override
            public void clear(String key, long token) {
                write("cache:" + key, null, token);
            }
        };
    }

    /** The database behind it, where every price was 100 at first. */
    Source<Long> prices() {
        return new Source<>() {
            @Override
            public Optional<Long> read(String key, long token) {
                String name = "price:" + key;
                if (find(name).isEmpty()) {
                    Notes.this.write(name, PriceChange.OLD, 0); // never over what a writer has written
                }
                raise(name, token); // first: a late writer is refused from now on
                return Optional.of(find(name).orElse(PriceChange.OLD));
            }

            @Override
            public void write(String key, Long value, long token) {
                if (!Notes.this.write("price:" + key, value, token)) {
                    throw new StaleTokenException("price:" + key, token, token);
                }
            }
        };
    }
}
