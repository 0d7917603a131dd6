package dev.holdfast.redis;

import io.lettuce.core.RedisURI;

/** The address of a node of a cluster. */
record NodeAddress(String host, int port) {
    static NodeAddress of(RedisURI uri) {
        return new NodeAddress(uri.getHost(), uri.getPort());
    }

    /**
     * Reads {@code host:port}; a node that does not know its own host writes {@code :port}.
     *
     * @param source the node that reported it
     */
    static NodeAddress parse(String text, NodeAddress source) {
        int colon = text.lastIndexOf(':');
        return of(text.substring(0, colon), Integer.parseInt(text.substring(colon + 1)), source);
    }

    /** As a node reports it, which may not know a host. */
    static NodeAddress of(String host, int port, NodeAddress source) {
        return new NodeAddress(host.isEmpty() || host.equals("?") ? source.host : host, port);
    }

    /** The URI for Lettuce, with the log-in and TLS of another node. */
    RedisURI uri(RedisURI like) {
        return RedisURI.builder(like).withHost(host).withPort(port).build();
    }

    @Override
    public String toString() {
        return (host.indexOf(':') >= 0 ? "[" + host + "]" : host) + ":" + port;
    }
}
