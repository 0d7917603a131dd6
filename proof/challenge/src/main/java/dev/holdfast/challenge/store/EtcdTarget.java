package dev.holdfast.challenge.store;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.testbed.ChunkMatcher;
import dev.holdfast.testbed.EtcdCluster;
import dev.holdfast.testbed.EtcdServer;
import dev.holdfast.testbed.ServerProcess;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/** Three members of etcd. All clients talk to one of them, which is the one that is killed and cut off. */
final class EtcdTarget implements Target {
    private static final Pattern KEY = Pattern.compile("\"key\":\"([^\"]+)\"");
    private static final String ALL_CLAIMS = "{\"key\":\"" + base64("/holdfast/locks/") + "\",\"range_end\":\""
            + base64("/holdfast/locks0") + "\",\"keys_only\":true}";

    private final EtcdCluster cluster = EtcdCluster.start();
    private final EtcdServer member = cluster.member(cluster.leader());

    @Override
    public String settings() {
        return "etcd " + member.version() + ", three members, clients of one that led at the beginning";
    }

    @Override
    public String url() {
        return "etcd://" + member.endpoint();
    }

    @Override
    public ChunkMatcher isDone() {
        return Replies::isMessage;
    }

    @Override
    public Optional<ServerProcess> process() {
        return Optional.of(member.process());
    }

    /** All keys of claims. A record stays for as long as it is to be kept, and the version of the layout for ever. */
    @Override
    public List<String> kept() {
        String answer = member.ask("kv/range", ALL_CLAIMS);
        return KEY.matcher(answer)
                .results()
                .map(key -> new String(Base64.getDecoder().decode(key.group(1)), UTF_8).replace('\0', ' '))
                .toList();
    }

    private static String base64(String text) {
        return Base64.getEncoder().encodeToString(text.getBytes(UTF_8));
    }

    @Override
    public void close() {
        cluster.close();
    }
}
