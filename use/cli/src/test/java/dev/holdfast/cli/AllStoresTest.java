package dev.holdfast.cli;

import static dev.holdfast.testbed.OrSkip.orSkip;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Hold;
import dev.holdfast.LockClient;
import dev.holdfast.testbed.EtcdServer;
import dev.holdfast.testbed.RedisServer;
import dev.holdfast.testbed.ZooKeeperServer;
import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import java.util.TreeMap;
import java.util.TreeSet;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.w3c.dom.Element;
import org.w3c.dom.Node;
import org.w3c.dom.NodeList;

/** A program with all stores on its class path, put together as Maven does for a consumer: see decision 0026. */
class AllStoresTest {

    @Test
    void redisZooKeeperAndEtcdWorkInOneProgram() throws InterruptedException {
        try (RedisServer redis = orSkip(RedisServer::start);
                ZooKeeperServer zooKeeper = ZooKeeperServer.start(Map.of("tickTime", "500"));
                EtcdServer etcd = orSkip(EtcdServer::start);
                LockClient one = LockClient.connect(redis.uri());
                LockClient two = LockClient.connect("zk://" + zooKeeper.connectString() + "?tick=500ms");
                LockClient three = LockClient.connect("etcd://" + etcd.endpoint());
                Hold here = one.lock("job").acquire();
                Hold there = two.lock("job").acquire();
                Hold last = three.lock("job").acquire()) {
            assertThat(here.isValid()).isTrue();
            assertThat(there.isValid()).isTrue();
            assertThat(last.isValid()).isTrue();
            assertThat(one.lock("job").status().isHeld()).isTrue();
            assertThat(two.lock("job").status().isHeld()).isTrue();
        }
    }

    /** Every jar of Netty says in such a file what it is. */
    @Test
    void thereIsOneNettyAndItIsOurs() throws Exception {
        Map<String, String> versions = new TreeMap<>();
        for (URL url :
                Collections.list(getClass().getClassLoader().getResources("META-INF/io.netty.versions.properties"))) {
            Properties jar = new Properties();
            try (InputStream in = url.openStream()) {
                jar.load(in);
            }
            jar.stringPropertyNames().stream()
                    .filter(name -> name.endsWith(".version"))
                    .forEach(name -> versions.put(name, jar.getProperty(name)));
        }
        assertThat(versions).hasSizeGreaterThan(5);
        assertThat(versions.values()).containsOnly(nettyVersion());
    }

    /** What Maven and Gradle conclude from: decision 0026 says how. The jars of etcd's client have no POMs in them. */
    @ParameterizedTest
    @CsvSource({"redis, io.lettuce/lettuce-core", "zookeeper, org.apache.zookeeper/zookeeper"})
    void aStoreNamesAllThatItsClientAsksForOfNettyInNoOlderVersion(String store, String client) throws Exception {
        List<Element> ours = netty(Files.newInputStream(Path.of("../../stores", store, "pom.xml")));
        List<Element> asked = netty(Objects.requireNonNull(
                getClass().getResourceAsStream("/META-INF/maven/" + client + "/pom.xml"), client));
        TreeSet<String> named = new TreeSet<>();
        for (Element each : ours) {
            named.add(child(each, "artifactId"));
            assertThat(child(each, "version")).isEqualTo("${netty.version}");
        }
        assertThat(asked).isNotEmpty();
        for (Element each : asked) {
            if (!child(each, "artifactId").matches("netty-(transport-native-epoll|tcnative.*)")) { // excluded: native
                assertThat(named).contains(child(each, "artifactId"));
            }
            String version = child(each, "version");
            if (version.matches("[0-9.]+Final")) {
                assertThat(Runtime.Version.parse(number(nettyVersion())))
                        .isGreaterThanOrEqualTo(Runtime.Version.parse(number(version)));
            }
        }
    }

    private static String number(String version) {
        return version.replace(".Final", "");
    }

    private static String nettyVersion() throws IOException {
        return Files.readString(Path.of("../../pom.xml"))
                .replaceAll("(?s).*<netty.version>(.*?)</netty.version>.*", "$1");
    }

    /** The dependencies on Netty of a POM that its consumers get. */
    private static List<Element> netty(InputStream pom) throws Exception {
        try (pom) {
            Element project = DocumentBuilderFactory.newInstance()
                    .newDocumentBuilder()
                    .parse(pom)
                    .getDocumentElement();
            NodeList all = project.getElementsByTagName("dependency");
            List<Element> found = new ArrayList<>();
            for (int i = 0; i < all.getLength(); i++) {
                Element each = (Element) all.item(i);
                boolean direct = each.getParentNode().getParentNode() == project;
                boolean passedOn = !child(each, "optional").equals("true")
                        && !child(each, "scope").matches("test|provided");
                if (direct && passedOn && child(each, "groupId").equals("io.netty")) {
                    found.add(each);
                }
            }
            return found;
        }
    }

    private static String child(Element of, String name) {
        for (Node each = of.getFirstChild(); each != null; each = each.getNextSibling()) {
            if (each.getNodeName().equals(name)) {
                return each.getTextContent().strip();
            }
        }
        return "";
    }
}
