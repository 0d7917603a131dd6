package dev.holdfast.bench.peer;

import io.etcd.jetcd.Client;

/** The address of etcd servers as Holdfast's users write it: {@code etcd://host:port,host:port}. */
final class EtcdUrls {
    private static final String SCHEME = "etcd://";

    private EtcdUrls() {}

    /** A client of the servers in it, with jetcd's own settings. */
    static Client client(String url) {
        if (!url.startsWith(SCHEME)) {
            throw new IllegalArgumentException("not " + SCHEME + "host:port: " + url);
        }
        String servers = url.substring(SCHEME.length());
        return Client.builder()
                .endpoints(("http://" + servers.replace(",", ",http://")).split(","))
                .build();
    }
}
