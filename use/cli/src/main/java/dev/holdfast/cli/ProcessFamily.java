package dev.holdfast.cli;

import java.io.File;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A command and every process that came from it.
 *
 * <p>A process whose parent has ended belongs to init, and its origin is lost. Two things find it nevertheless: a member
 * that was seen once is remembered, and on Linux the hold's id in a process's environment, which every child inherits,
 * proves where it came from. A process that escapes both was never seen as a child and has cleared its environment.
 */
final class ProcessFamily {
    private static final File PROC = new File("/proc");
    /** For so long a process that was no member counts as none; then its number may belong to another one. */
    private static final long STRANGE_NANOS = 250_000_000;

    private final String holdId;
    private final Set<ProcessHandle> members = new LinkedHashSet<>();
    private final Set<Long> strangers = new HashSet<>();
    private long strangersSince = System.nanoTime();

    /**
     * Begins with the command alone.
     *
     * @param roots the command, or what started it
     * @param holdId what the environment of every member has as {@code HOLDFAST_HOLD_ID}
     */
    ProcessFamily(Collection<ProcessHandle> roots, String holdId) {
        this.members.addAll(roots);
        this.holdId = holdId;
    }

    /**
     * Looks for members that are not known yet, and returns some of them; an empty list says that none was found. Those
     * that carry the id come first and at once: a process that lives for a millisecond would be gone otherwise.
     */
    List<ProcessHandle> discover() {
        List<ProcessHandle> found = byEnvironment();
        if (found.isEmpty()) {
            found = byParent();
        }
        members.addAll(found);
        return found;
    }

    private List<ProcessHandle> byEnvironment() {
        if (System.nanoTime() - strangersSince > STRANGE_NANOS) {
            strangers.clear();
            strangersSince = System.nanoTime();
        }
        String @Nullable [] names = PROC.list();
        return Stream.of(names == null ? new String[0] : names)
                .filter(name -> Character.isDigit(name.charAt(0)))
                .map(Long::valueOf)
                .filter(pid -> !strangers.contains(pid))
                .sorted(Comparator.reverseOrder()) // the youngest first
                .filter(this::carriesId)
                .map(ProcessHandle::of)
                .flatMap(Optional::stream)
                .filter(process -> !members.contains(process))
                .toList();
    }

    private boolean carriesId(long pid) {
        ProcEnvironment.Answer answer = ProcEnvironment.isUnder(holdId, pid);
        if (answer == ProcEnvironment.Answer.NO) {
            strangers.add(pid);
        }
        return answer == ProcEnvironment.Answer.YES;
    }

    private List<ProcessHandle> byParent() {
        List<ProcessHandle> others = ProcessHandle.allProcesses()
                .filter(process -> !members.contains(process))
                .toList();
        Map<ProcessHandle, ProcessHandle> parents = new HashMap<>();
        others.forEach(process -> process.parent().ifPresent(parent -> parents.put(process, parent)));
        Set<ProcessHandle> found = new LinkedHashSet<>();
        boolean grew = true;
        while (grew) {
            grew = false;
            for (Map.Entry<ProcessHandle, ProcessHandle> child : parents.entrySet()) {
                boolean isMember = members.contains(child.getValue()) || found.contains(child.getValue());
                grew |= isMember && found.add(child.getKey());
            }
        }
        return new ArrayList<>(found);
    }

    /** All that are known, the command first. */
    List<ProcessHandle> members() {
        return List.copyOf(members);
    }

    /** The members that still run. Those that are gone are forgotten: a family watched for hours stays small. */
    List<ProcessHandle> alive() {
        members.removeIf(member -> !member.isAlive()); // an ended one that nobody has collected would be found again
        return members.stream().filter(member -> !ProcStat.hasEnded(member)).toList();
    }
}
