package dev.holdfast.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Runs every command on every URL of a file in one process: a process for each would take minutes. Before each command it
 * prints a line that begins with {@link #BEGIN}.
 */
final class EveryCommand {
    static final String BEGIN = "@@ ";

    private static final List<List<String>> COMMANDS = List.of(
            List.of("run", "job", "--", "true"),
            List.of("run", "--wait", "0", "job", "other", "--", "true"),
            List.of("once", "--every", "100ms", "job", "--", "true"),
            List.of("fence", "job", "1", "--", "true"),
            List.of("list"),
            List.of("list", "--once"),
            List.of("list", "--json", "job*"),
            List.of("release", "--yes", "job"),
            List.of("break", "--yes", "--json", "job"),
            List.of("top", "--count", "1"),
            List.of("top", "--json", "--count", "1"),
            List.of("why", "job"),
            List.of("demo", "--processes", "1", "--tickets", "1"),
            List.of("schema", "sqlite"),
            List.of("completion", "zsh"),
            List.of("lst"));

    private EveryCommand() {}

    /** The first argument is the file. */
    public static void main(String[] args) throws IOException {
        int number = 0;
        for (String url : Files.readAllLines(Path.of(args[0]))) {
            for (List<String> command : COMMANDS) {
                List<String> all = new ArrayList<>(List.of("-v", "--store", url));
                all.addAll(command);
                run(number, command.get(0), all);
            }
            run(number, "behind", List.of("-v", "list", "--store=" + url));
            run(number, "mistyped", List.of("-v", "list", "--stroe=" + url));
            run(number, "misplaced", List.of("-v", "list", url, url));
            number++;
        }
        System.exit(0); // whatever threads a driver has left
    }

    private static void run(int number, String how, List<String> arguments) {
        System.out.println(BEGIN + number + " " + how);
        int code = Main.run(arguments.toArray(String[]::new));
        System.out.println("exit code " + code);
    }
}
