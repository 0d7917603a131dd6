package dev.holdfast.cli;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** What runs on this machine, by a mark in its command line. */
final class Processes {
    private Processes() {}

    /** The processes that have the mark among their arguments, and run. */
    static List<ProcessHandle> marked(String mark) {
        return ProcessHandle.allProcesses()
                .filter(process -> process.pid() != ProcessHandle.current().pid())
                .filter(process -> arguments(process).contains(mark))
                .filter(process -> !ProcStat.hasEnded(process))
                .toList();
    }

    /** Those of them that run as a user. */
    static List<ProcessHandle> marked(String mark, String user) {
        return marked(mark).stream()
                .filter(process -> process.info().user().filter(user::equals).isPresent())
                .toList();
    }

    /** Kills them, and what they have started. */
    static void kill(List<ProcessHandle> processes) {
        processes.stream()
                .flatMap(process -> Stream.concat(Stream.of(process), process.descendants()))
                .toList()
                .forEach(ProcessHandle::destroyForcibly);
    }

    private static String arguments(ProcessHandle process) {
        try {
            return Files.readString(
                    Path.of("/proc", Long.toString(process.pid()), "cmdline"), StandardCharsets.ISO_8859_1);
        } catch (IOException e) {
            return "";
        }
    }
}
