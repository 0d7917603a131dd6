package dev.holdfast.jdbc;

import dev.holdfast.tck.SecretsContract;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;

/** Drivers print what they cannot read, and a log-in at the wrong place of a URL is read as a host, a port or a path. */
@Tag("thorough") // a hundred URLs; JdbcStoresTest has those that drivers print
class SecretsTest extends SecretsContract {
    /** Each for all three servers; nothing listens on port 1. */
    private static final List<String> SERVERS = List.of(
            "//me:SECRET@127.0.0.1:1/db",
            "//me:ENCODED@127.0.0.1:1/db",
            "//me:SECRET@127.0.0.1/db",
            "//me:SECRET@127.0.0.1:1/db?connectTimeout=1",
            "//SECRET@127.0.0.1:1/db",
            "//me:SECRET@127.0.0.1:1,me:SECRET@127.0.0.1:2/db",
            "//127.0.0.1:1,me:SECRET@127.0.0.1:2/db",
            "//me:xSECRET",
            "//me:xSECRET/db",
            "//127.0.0.1:1:SECRET/db",
            "/me:SECRET@127.0.0.1:1/db",
            "me:SECRET@127.0.0.1:1/db",
            "me:SECRET",
            "sequential://me:SECRET@127.0.0.1:1/db",
            "sequential://127.0.0.1:1,127.0.0.1:2/db?user=me&password=SECRET&retriesAllDown=1",
            "loadbalance://me:SECRET@127.0.0.1:1/db",
            "//address=(host=127.0.0.1)(port=1)(user=me)(password=SECRET)/db",
            "//(host=127.0.0.1,port=1,user=me,password=SECRET)/db",
            "//127.0.0.1:1/me:SECRET@db",
            "//127.0.0.1:1/db?user=me&password=SECRET",
            "//127.0.0.1:1?user=me&password=SECRET",
            "//127.0.0.1:1/db?user=me&password=ENCODED",
            "//127.0.0.1:1/db?USER=me&PASSWORD=SECRET",
            "//127.0.0.1:1/db?user=me:SECRET",
            "//127.0.0.1:1/db?pwd=SECRET&sslmode=SECRET",
            "//127.0.0.1:1/db?socketTimeout=SECRET",
            "//127.0.0.1:1/db?sslMode=verify-ca&serverSslCert=SECRET",
            "//127.0.0.1:1/db?sslpassword=SECRET&sslmode=require",
            "//127.0.0.1:1/db?useSsl=true&keyStore=nosuch&keyStorePassword=SECRET&trustStorePassword=ENCODED",
            "//127.0.0.1:1/db;USER=me;PASSWORD=SECRET",
            "//127.0.0.1:1/db?user=me&password=SECRET&mode=session",
            "//127.0.0.1:1/db?holdfast.password=SECRET",
            "//127.0.0.1:1/db");

    private static final List<String> H2 = List.of(
            "jdbc:h2:tcp://me:SECRET@127.0.0.1:1/./db",
            "jdbc:h2:tcp://127.0.0.1:1:SECRET/./db",
            "jdbc:h2:tcp://127.0.0.1:1/./me:SECRET@db",
            "jdbc:h2:ssl://127.0.0.1:1/./db;USER=me;PASSWORD=SECRET",
            "jdbc:h2:tcp://127.0.0.1:1/./db;USER=me;PASSWORD=ENCODED",
            "jdbc:h2:tcp://127.0.0.1:1/./db?user=me&password=SECRET",
            "jdbc:h2:mem:secrets;user=me;password=SECRET;NOSUCH=1",
            "jdbc:h2:mem:secrets;USER=me;PASSWORD=SECRET;USER=other",
            "jdbc:h2:mem:secrets;PASSWORD=SECRET;password=xSECRET",
            "jdbc:h2:mem:secrets;PASSWORD:SECRET",
            "jdbc:h2:mem:secrets;CIPHER=SECRET",
            "jdbc:h2:mem:secrets?PASSWORD=SECRET",
            "jdbc:h2:/nosuch/folder/db;IFEXISTS=TRUE;CIPHER=AES;PASSWORD=SECRET SECRET",
            "jdbc:h2:me:SECRET@127.0.0.1/db");

    @Override
    protected List<String> urls() {
        List<String> urls = new ArrayList<>(H2);
        for (String scheme : List.of("jdbc:postgresql:", "jdbc:mariadb:", "jdbc:mysql:")) {
            SERVERS.forEach(rest -> urls.add(scheme + rest));
        }
        for (String scheme : List.of("jdbc:postgresql:", "jdbc:mariadb:")) { // MySQL's driver tries two for minutes
            urls.add(scheme + "//127.0.0.1:1,127.0.0.1:2/db?user=me&Password=ENCODED&nosuch=1");
        }
        return urls;
    }
}
