package dev.holdfast.testbed;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;

/** Reads one output of a child into its transcript, all the time, so that the child never blocks on a full pipe. */
final class OutputPump {
    private final InputStream from;
    private final Transcript to;
    private final Transcript.Source source;

    private OutputPump(InputStream from, Transcript to, Transcript.Source source) {
        this.from = from;
        this.to = to;
        this.source = source;
    }

    /** Reads until the end on a thread of its own. */
    static void start(long pid, InputStream from, Transcript to, Transcript.Source source) {
        to.opened();
        Thread thread = new Thread(new OutputPump(from, to, source)::run, "testbed-child-" + pid + "-" + source);
        thread.setDaemon(true);
        thread.start();
    }

    private void run() {
        try (BufferedReader lines = new BufferedReader(new InputStreamReader(from, UTF_8))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                to.add(source, line);
            }
        } catch (IOException e) {
            to.add(source, "(reading ended: " + e + ")");
        } finally {
            to.ended();
        }
    }
}
