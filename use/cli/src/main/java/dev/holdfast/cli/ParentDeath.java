package dev.holdfast.cli;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** {@code --die-with-parent}: the kernel kills the command when this process ends, by whatever cause. */
final class ParentDeath {
    private static final String SETPRIV = "setpriv";
    /** The request counts from now on: a parent that had ended before would never be noticed. */
    private static final String UNLESS_ORPHANED = "[ \"$PPID\" = \"$0\" ] || kill -s KILL $$; exec \"$@\"";

    private ParentDeath() {}

    /**
     * The command, with what asks the kernel for it (setpriv of util-linux, which then becomes the command).
     *
     * @throws CliException if this system has no such request; or with 126 or 127 if the command cannot be started
     */
    static List<String> bind(List<String> command) {
        Path setpriv = Optional.of(SETPRIV)
                .filter(name -> Files.isDirectory(Path.of("/proc/self")))
                .flatMap(ParentDeath::onPath)
                .orElseThrow(() -> new CliException(
                        ExitCode.USAGE,
                        "--die-with-parent needs Linux and 'setpriv' of util-linux 2.33 or later on $PATH; install it, or"
                                + " run without the option and let a service manager end what is left"));
        requireStartable(command.get(0));
        List<String> bound = new ArrayList<>(List.of(setpriv.toString(), "--pdeathsig", "KILL"));
        bound.addAll(List.of("/bin/sh", "-c", UNLESS_ORPHANED));
        bound.add(Long.toString(ProcessHandle.current().pid()));
        bound.addAll(command);
        return bound;
    }

    /** Otherwise the shell would report it, in its own words. */
    private static void requireStartable(String program) {
        boolean isPath = program.contains("/");
        if (isPath ? !Files.exists(Path.of(program)) : candidates(program).noneMatch(Files::exists)) {
            throw ChildCommand.notFound(program, null);
        }
        if (isPath ? !isProgram(Path.of(program)) : onPath(program).isEmpty()) {
            throw ChildCommand.notExecutable(program, null);
        }
    }

    private static Optional<Path> onPath(String program) {
        return candidates(program).filter(ParentDeath::isProgram).findFirst();
    }

    private static Stream<Path> candidates(String program) {
        return Stream.of(System.getenv().getOrDefault("PATH", "/usr/bin:/bin").split(":"))
                .map(folder -> Path.of(folder.isEmpty() ? "." : folder, program));
    }

    private static boolean isProgram(Path file) {
        return Files.isRegularFile(file) && Files.isExecutable(file);
    }
}
