package dev.holdfast;

/**
 * A client that holds or waits, described for people; nothing is decided by it.
 *
 * @param host the machine's name
 * @param pid the process id on that machine
 * @param thread the thread that asked
 * @param label what the client was labelled with, or empty
 */
public record Holder(String host, long pid, String thread, String label) {
    @Override
    public String toString() {
        return host + ":" + pid + (label.isEmpty() ? "" : " (" + label + ")");
    }
}
