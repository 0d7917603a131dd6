package dev.holdfast.testbed;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;

/** 127.0.0.1 and never ::1, whatever the machine calls localhost: servers here are told to listen there. */
final class Loopback {
    private static final byte[] BYTES = {127, 0, 0, 1};

    private Loopback() {}

    /** The port on 127.0.0.1; 0 for one that the system chooses. */
    static InetSocketAddress port(int port) {
        try {
            return new InetSocketAddress(InetAddress.getByAddress(BYTES), port);
        } catch (UnknownHostException e) {
            throw new AssertionError("four bytes are an address", e);
        }
    }
}
