package dev.holdfast.cli;

import java.util.function.Consumer;
import sun.misc.Signal;
import sun.misc.SignalHandler;

/**
 * A signal of the operating system; the one place that touches the API for them, which the JDK keeps in its module
 * {@code jdk.unsupported} for want of another.
 *
 * @param name without the prefix: {@code INT}
 * @param number as in {@code kill -l}
 */
record OsSignal(String name, int number) {
    static final String INT = "INT";
    /** SIGTERM, by which a process is asked to end. */
    static final OsSignal ASK_TO_END = new OsSignal("TERM", 15);

    /**
     * Calls the handler, on a thread of its own, for each such signal. A signal that was ignored when this process
     * started (nohup) stays ignored, for us and our children; one that this system has not, or the JVM keeps for itself,
     * is left alone.
     */
    static void handle(String name, Consumer<OsSignal> handler) {
        install(name, signal -> handler.accept(new OsSignal(signal.getName(), signal.getNumber())));
    }

    static void ignore(String name) {
        install(name, SignalHandler.SIG_IGN);
    }

    /** Does with this process what the system does without a handler; returns when it goes on. */
    void doAsUsual() {
        Signal signal = new Signal(name);
        SignalHandler own = Signal.handle(signal, SignalHandler.SIG_DFL);
        try (SignalSender sender = new SignalSender()) { // Java raises only what it handles
            boolean unused = sender.send(name, ProcessHandle.current().pid());
        }
        Signal.handle(signal, own);
    }

    private static void install(String name, SignalHandler handler) {
        try {
            Signal signal = new Signal(name);
            if (SignalHandler.SIG_IGN.equals(Signal.handle(signal, handler))) {
                Signal.handle(signal, SignalHandler.SIG_IGN); // the JVM does so for three signals alone
            }
        } catch (IllegalArgumentException e) {
            // No such signal here: nobody can send it.
        }
    }
}
