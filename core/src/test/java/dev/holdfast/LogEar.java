package dev.holdfast;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/** Keeps what the library logs, with the JDK's own logging behind {@link System.Logger}, until it is closed. */
final class LogEar extends Handler implements AutoCloseable {
    final List<String> lines = new CopyOnWriteArrayList<>();
    final List<String> loggers = new CopyOnWriteArrayList<>();
    final List<Level> levels = new CopyOnWriteArrayList<>();
    private final Logger logger = Logger.getLogger("dev.holdfast"); // kept: loggers are only weakly known

    LogEar() {
        logger.addHandler(this);
    }

    /** The lines that contain a text. */
    List<String> with(String text) {
        return lines.stream().filter(line -> line.contains(text)).toList();
    }

    @Override
    public void publish(LogRecord line) {
        lines.add(line.getMessage());
        loggers.add(line.getLoggerName());
        levels.add(line.getLevel());
    }

    @Override
    public void flush() {}

    @Override
    public void close() {
        logger.removeHandler(this);
    }
}
