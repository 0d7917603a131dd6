package dev.holdfast.cli;

import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;

/** This machine's name, as the library writes it beside holds. */
final class ThisHost {
    private static final Path LINUX_NAME = Path.of("/proc/sys/kernel/hostname");

    private ThisHost() {}

    static String name() {
        try {
            return Files.readString(LINUX_NAME).strip();
        } catch (IOException notLinux) {
            return byAddress();
        }
    }

    private static String byAddress() {
        try {
            return InetAddress.getLocalHost().getHostName();
        } catch (UnknownHostException unnamed) {
            return "localhost";
        }
    }
}
