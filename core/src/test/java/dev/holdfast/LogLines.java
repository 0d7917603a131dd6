package dev.holdfast;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/** What Holdfast says in the log while this is open. */
final class LogLines extends Handler implements AutoCloseable {
    final List<String> said = new CopyOnWriteArrayList<>();
    private final Logger logger = Logger.getLogger("dev.holdfast"); // kept: loggers are only weakly known

    LogLines() {
        logger.addHandler(this);
    }

    @Override
    public void publish(LogRecord message) {
        said.add(message.getMessage());
    }

    @Override
    public void flush() {}

    @Override
    public void close() {
        logger.removeHandler(this);
    }
}
