package dev.holdfast.flashsale;

import static dev.holdfast.testbed.OrSkip.orSkip;

import dev.holdfast.testbed.RedisServer;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** Three independent Redis servers, which grant together, and from the first minute on. */
final class RedisQuorum implements AutoCloseable {
    private static final int MEMBERS = 3;

    private final List<RedisServer> members = new ArrayList<>();

    RedisQuorum() {
        for (int i = 0; i < MEMBERS; i++) {
            RedisServer member = orSkip(RedisServer::start);
            members.add(member);
            member.call("SET", "holdfast:quorum", "1 0 0 -");
        }
    }

    String url() {
        return members.stream().map(RedisServer::uri).collect(Collectors.joining(",", "quorum:", ""));
    }

    @Override
    public void close() {
        members.forEach(RedisServer::close);
    }
}
