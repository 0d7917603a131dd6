package dev.holdfast.flashsale;

import java.net.URI;

/** The servers that requests are passed to, one after the other. */
interface ServerPool {
    /** Adds a server; when this returns, it gets requests. */
    void add(URI server);

    /** Takes a server out, which is dead already. */
    void remove(URI server);
}
