package dev.holdfast.cli;

/**
 * Prints what the library logs, warnings and errors, as single lines on stderr. The JDK's own logging would print two
 * lines each, and cost a part of the start-up time of every command.
 */
public final class StderrLoggerFinder extends System.LoggerFinder {

    /** For the JDK, which finds this class as a service. */
    public StderrLoggerFinder() {}

    @Override
    public System.Logger getLogger(String name, Module module) {
        return new StderrLogger(name);
    }
}
