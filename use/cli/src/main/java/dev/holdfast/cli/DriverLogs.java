package dev.holdfast.cli;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogManager;
import java.util.logging.LogRecord;
import java.util.logging.SimpleFormatter;

/**
 * What drivers log through the JDK: nothing, or with {@code -v} one line for each record, without secrets. Left alone, they
 * write to stderr in lines of their own kind that name no lock, and one of them writes the whole URL.
 *
 * <p>The JDK makes one of these when a logger is first asked for, and so costs nothing where none is.
 */
public final class DriverLogs {
    private static volatile boolean wanted;

    /**
     * Called by the JDK.
     *
     * @throws IOException never
     */
    public DriverLogs() throws IOException {
        String settings = "handlers=" + OneLine.class.getName() + "\n.level=WARNING\nio.lettuce.level=OFF\n"
                + "io.netty.level=OFF\n";
        LogManager.getLogManager()
                .readConfiguration(new ByteArrayInputStream(settings.getBytes(StandardCharsets.ISO_8859_1)));
    }

    /** Before anything logs. */
    static void install() {
        System.setProperty("java.util.logging.config.class", DriverLogs.class.getName());
        System.setProperty("net.spy.log.LoggerImpl", "net.spy.memcached.compat.log.SunLogger"); // else to stderr
    }

    /** Whether to print what drivers log. */
    static void tell(boolean verbose) {
        wanted = verbose;
    }

    /** Prints records. */
    public static final class OneLine extends Handler {
        /** Called by the JDK. */
        public OneLine() {
            setFormatter(new SimpleFormatter());
        }

        @Override
        public void publish(LogRecord record) {
            if (wanted && record.getLevel().intValue() >= Level.WARNING.intValue()) {
                String thrown = record.getThrown() == null ? "" : ": " + record.getThrown();
                System.err.println(
                        "  driver: " + Redaction.oneLine(getFormatter().formatMessage(record) + thrown));
            }
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
    }
}
