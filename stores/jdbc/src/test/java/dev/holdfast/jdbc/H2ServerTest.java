package dev.holdfast.jdbc;

import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;

/** H2 in a file of this process. */
@Tag("thorough")
class H2ServerTest extends RecordTableCases {
    @TempDir
    static Path folder;

    @Override
    protected String url() {
        return "jdbc:h2:" + folder.resolve("locks") + ";DB_CLOSE_DELAY=-1";
    }

    @Override
    protected String with(String url, String parameter) {
        return url + ";" + parameter;
    }

    @Override
    protected String numbers(int most) {
        return "(SELECT x AS n FROM SYSTEM_RANGE(1, " + most + ")) AS numbers";
    }

    @Override
    protected String named(String text) {
        return "STRINGTOUTF8(" + text + ")";
    }

    @Override
    protected String recordIndexes() {
        return "SELECT count(*) FROM information_schema.indexes WHERE table_name = 'HOLDFAST_LOCK_RECORD'"
                + " AND table_schema = 'PUBLIC' AND index_type_name <> 'PRIMARY KEY'";
    }

    @Override
    protected String dialect() {
        return "h2";
    }

    /** The whole database ends; the next connection opens it again. */
    @Override
    protected void endConnections() {
        sql("SHUTDOWN");
    }
}
