package dev.holdfast.internal;

import dev.holdfast.Holder;
import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;

/** This process, as people should see it beside its holds. */
final class ClientIdentity {
    private static final Path LINUX_NAME = Path.of("/proc/sys/kernel/hostname");
    private final String name = name();
    private final long pid = ProcessHandle.current().pid();
    private final String label;

    ClientIdentity(String label) {
        this.label = label;
    }

    Holder holder(String thread) {
        return new Holder(name, pid, thread, label);
    }

    /** Without asking a name server where that can be avoided: a slow one would stall the first lock by seconds. */
    private static String name() {
        try {
            return Files.readString(LINUX_NAME).strip();
        } catch (IOException notLinux) {
            return nameByAddress();
        }
    }

    private static String nameByAddress() {
        try {
            return InetAddress.getLocalHost().getHostName();
        } catch (UnknownHostException unnamed) {
            return "localhost";
        }
    }
}
