package dev.holdfast.cli;

import static dev.holdfast.cli.Cli.SOON;

import dev.holdfast.testbed.ChildOutput;
import dev.holdfast.testbed.ChildProcess;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * One process that runs many commands of the command line, one after the other: a process for each would take minutes. For
 * commands that start nothing and read no input.
 */
final class OneProcess implements AutoCloseable {
    private static final String END = "@@ end ";
    private static final String SEPARATOR = "\u001f";

    private final ChildProcess process;
    private int number;

    /**
     * Starts it.
     *
     * @param flags of the JVM
     */
    OneProcess(Cli cli, String... flags) {
        process = cli.jvm(OneProcess.class).flags(flags).start();
    }

    /** What runs in the process: a command a line. */
    public static void main(String[] args) throws IOException {
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        String line = commands.readLine();
        while (line != null) {
            String[] words = line.split(SEPARATOR, -1);
            int code = Main.run(Arrays.copyOfRange(words, 1, words.length));
            System.err.println(END + words[0]);
            System.out.println(END + words[0] + " " + code);
            line = commands.readLine();
        }
    }

    Cli.Ended run(String... args) {
        number++;
        process.send(Stream.concat(Stream.of(Integer.toString(number)), Stream.of(args))
                .collect(Collectors.joining(SEPARATOR)));
        String end = process.expect(END + number + " ", SOON);
        process.stderr().expect(line -> line.equals(END + number), SOON);
        return new Cli.Ended(
                Integer.parseInt(end.substring(end.lastIndexOf(' ') + 1)),
                said(process.stdout()),
                said(process.stderr()));
    }

    /** The lines between the last two ends. */
    private List<String> said(ChildOutput output) {
        List<String> lines = output.lines();
        int end = place(lines, number);
        return lines.subList(number == 1 ? 0 : place(lines, number - 1) + 1, end);
    }

    private static int place(List<String> lines, int number) {
        for (int i = lines.size() - 1; i >= 0; i--) {
            if ((lines.get(i) + " ").startsWith(END + number + " ")) {
                return i;
            }
        }
        throw new AssertionError("no end of command " + number + " in " + lines);
    }

    @Override
    public void close() {
        process.close();
    }
}
