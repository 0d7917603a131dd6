package dev.holdfast.sqlite;

import dev.holdfast.tck.SecretsContract;
import java.util.List;

/** A file has no log-in: a URL with one is refused, and no file is named by it. */
class SecretsTest extends SecretsContract {
    @Override
    protected List<String> urls() {
        return List.of(
                "sqlite://me:SECRET@host/locks.db",
                "sqlite:me:SECRET@host/locks.db",
                "sqlite:/nosuch/me:SECRET@host",
                "sqlite:locks.db?password=SECRET",
                "sqlite:locks.db;PASSWORD=SECRET",
                "sqlite:file:locks.db?key=SECRET",
                "sqlite:/proc/nosuch/locks.db");
    }
}
