package dev.holdfast.challenge.lock;

import dev.holdfast.challenge.lock.LockKind.Place;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.ExponentialBackoffRetry;

/** Clients of Curator with its default time-outs. */
final class Curators {
    private static final int FIRST_PAUSE_MILLIS = 100;
    private static final int RETRIES = 3;

    private Curators() {}

    static CuratorFramework at(Place place) throws Exception {
        return place.client(
                CuratorFramework.class, "curator-framework", () -> connect(place.url()), CuratorFramework::close);
    }

    private static CuratorFramework connect(String url) {
        CuratorFramework client = CuratorFrameworkFactory.newClient(
                url.substring("zk://".length()), new ExponentialBackoffRetry(FIRST_PAUSE_MILLIS, RETRIES));
        client.start();
        return client;
    }
}
