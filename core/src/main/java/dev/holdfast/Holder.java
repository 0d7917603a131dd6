package dev.holdfast;

/**
 * Who holds or waits, for people to read; it decides nothing.
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
