package dev.holdfast.cli;

import dev.holdfast.HoldfastException;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

/**
 * A terminal on which each frame replaces the one before. At the end its earlier content is restored, also after a signal,
 * and so it is while Ctrl-Z stops this process. If stdout is no terminal, or one without a cursor, each frame is printed below the one before.
 */
final class Screen implements AutoCloseable {
    /** Without wrapped lines: a line of as many characters as there are columns may be wider, such as one in Chinese. */
    private static final String ENTER = "\u001b[?1049h\u001b[?25l\u001b[?7l";

    private static final String LEAVE = "\u001b[?7h\u001b[?25h\u001b[?1049l";
    private static final String HOME = "\u001b[H";
    private static final String END_OF_LINE = "\u001b[K";
    private static final String REST = "\u001b[J";
    private static final int LINES = 24;
    private static final int COLUMNS = 80;

    private final boolean isTerminal;
    private final Thread atExit = new Thread(this::leave, "screen-end");
    private volatile int lines = LINES;
    private volatile int columns = COLUMNS;
    private boolean isFirst = true;
    private final ReentrantLock printing = new ReentrantLock();
    private String shown = "";

    private Screen(boolean isTerminal) {
        this.isTerminal = isTerminal;
        if (isTerminal) {
            measure();
            OsSignal.handle("WINCH", signal -> measure());
            OsSignal.handle("TSTP", this::suspend);
            Runtime.getRuntime().addShutdownHook(atExit);
            print(ENTER);
        }
    }

    /** Nothing is drawn until the process goes on: at once where no shell could continue it. */
    private void suspend(OsSignal stop) {
        printing.lock();
        try {
            leave();
            stop.doAsUsual();
            measure();
            print(ENTER + shown);
        } finally {
            printing.unlock();
        }
    }

    static Screen open() {
        String kind = System.getenv().getOrDefault("TERM", "dumb");
        return new Screen(!kind.equals("dumb") && Terminal.isAt(Terminal.STDOUT));
    }

    boolean isTerminal() {
        return isTerminal;
    }

    /** How many lines are of use. */
    int lines() {
        return isTerminal ? lines : Integer.MAX_VALUE;
    }

    /** Draws what is read from the store. On a terminal an outage is shown in its place, and the next frame tries again. */
    boolean drawFromStore(Supplier<List<String>> frame) {
        List<String> lines;
        try {
            lines = frame.get();
        } catch (HoldfastException e) {
            if (!isTerminal) {
                throw e;
            }
            lines = List.of(Redaction.oneLine(String.valueOf(e.getMessage())));
        }
        return draw(lines);
    }

    /** Draws a frame; the lines have no characters that a terminal obeys. False if nobody reads them. */
    private boolean draw(List<String> frame) {
        StringBuilder text = new StringBuilder();
        if (isTerminal) {
            text.append(HOME);
            for (int i = 0; i < Math.min(frame.size(), lines - 1); i++) {
                text.append(cut(frame.get(i))).append(END_OF_LINE).append("\r\n");
            }
            text.append(REST);
        } else {
            text.append(isFirst ? "" : "\n");
            frame.forEach(line -> text.append(line).append('\n'));
        }
        isFirst = false;
        printing.lock();
        try {
            shown = text.toString();
            print(shown);
        } finally {
            printing.unlock();
        }
        return !System.out.checkError();
    }

    private String cut(String line) {
        return line.codePointCount(0, line.length()) <= columns
                ? line
                : line.substring(0, line.offsetByCodePoints(0, columns));
    }

    @Override
    public void close() {
        if (isTerminal) {
            leave();
            try {
                Runtime.getRuntime().removeShutdownHook(atExit);
            } catch (IllegalStateException e) {
                // it is running already, and leaves a second time, which does no harm
            }
        }
    }

    private void leave() {
        printing.lock();
        try {
            print(LEAVE);
        } finally {
            printing.unlock();
        }
    }

    private static void print(String text) {
        System.out.print(text);
        System.out.flush();
    }

    /** Asks stty: Java knows nothing of the size. */
    private void measure() {
        try {
            Process stty = new ProcessBuilder("/bin/sh", "-c", "stty size < /dev/tty 2> /dev/null").start();
            try (BufferedReader out =
                    new BufferedReader(new InputStreamReader(stty.getInputStream(), StandardCharsets.UTF_8))) {
                String said = out.readLine();
                if (said != null && said.matches("[1-9]\\d{0,3} [1-9]\\d{0,3}")) {
                    lines = Integer.parseInt(said.substring(0, said.indexOf(' ')));
                    columns = Integer.parseInt(said.substring(said.indexOf(' ') + 1));
                }
            }
        } catch (IOException e) {
            // the usual size
        }
    }
}
