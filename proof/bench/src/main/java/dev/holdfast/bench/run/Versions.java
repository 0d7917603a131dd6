package dev.holdfast.bench.run;

import java.io.File;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The versions of the libraries, as the names of the jars on the class path have them. */
public final class Versions {
    private static final Pattern JAR = Pattern.compile(
            "(redisson|spring-integration-core|spring-integration-redis|spring-integration-jdbc|shedlock-core|curator-recipes|zookeeper"
                    + "|lettuce-core|netty-common|HikariCP|postgresql|mariadb-java-client|sqlite-jdbc|jetcd-core|lock4j-core|db-scheduler)-(\\d.*)\\.jar");

    private Versions() {}

    /** By the names of the libraries. */
    public static Map<String, String> ofLibraries() {
        Map<String, String> versions = new TreeMap<>();
        for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
            Matcher matcher = JAR.matcher(new File(entry).getName());
            if (matcher.matches()) {
                versions.put(matcher.group(1), matcher.group(2));
            }
        }
        return versions;
    }
}
