package dev.holdfast.testbed;

import com.sun.jdi.Bootstrap;
import com.sun.jdi.IncompatibleThreadStateException;
import com.sun.jdi.Method;
import com.sun.jdi.ThreadReference;
import com.sun.jdi.VMDisconnectedException;
import com.sun.jdi.VirtualMachine;
import com.sun.jdi.connect.Connector.Argument;
import com.sun.jdi.connect.IllegalConnectorArgumentsException;
import com.sun.jdi.connect.LaunchingConnector;
import com.sun.jdi.connect.VMStartException;
import com.sun.jdi.event.BreakpointEvent;
import com.sun.jdi.event.ClassPrepareEvent;
import com.sun.jdi.event.Event;
import com.sun.jdi.event.EventSet;
import com.sun.jdi.event.MethodEntryEvent;
import com.sun.jdi.request.ClassPrepareRequest;
import com.sun.jdi.request.EventRequest;
import com.sun.jdi.request.EventRequestManager;
import com.sun.jdi.request.MethodEntryRequest;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The way of one call through the library, as a debugger sees it: which method calls which, on each thread. The program that
 * is walked runs in a JVM of its own and marks the call by {@link #begin()} and {@link #end()}.
 *
 * <p>A hop leads from one class of the library into a method of another that itself calls on; what only reads a value is none.
 * Nested classes count as the class around them.
 */
public final class Walk {
    private static final String LIBRARY = "dev.holdfast.";
    private static final String BEGIN = "begin";
    private static final String END = "end";
    private static final String TIMER = "-timer";
    private static final String FUTURE = "java.util.concurrent.CompletableFuture";

    /** A call of a method. */
    private static final class Call {
        final String type;
        final String method;
        final int depth;
        /** What runs while it is under way; null for a thread. */
        final @Nullable Method running;

        final List<Call> calls = new ArrayList<>();

        Call(String type, String method, int depth, @Nullable Method running) {
            this.type = type;
            this.method = method;
            this.depth = depth;
            this.running = running;
        }

        /** Whether it has not returned yet, though code of the JDK may have been called since. */
        boolean isUnderWay(ThreadReference thread, int now) throws IncompatibleThreadStateException {
            return depth < now && thread.frame(now - depth).location().method().equals(running);
        }

        void print(String indent, StringBuilder to) {
            to.append(indent).append(type).append('.').append(method).append('\n');
            calls.forEach(call -> call.print(indent + "  ", to));
        }
    }

    private final Map<String, Call> threads = new HashMap<>();
    private final Map<String, Deque<Call>> stacks = new HashMap<>();
    private int futures;

    private Walk() {}

    /** Where the walk begins; called by the program. */
    public static void begin() {}

    /** Where it ends; called by the program. */
    public static void end() {}

    /** Runs a program on this JVM's class path, and walks what it marks. */
    public static Walk of(Class<?> main, String... arguments) {
        try {
            Path options = Files.createTempFile("walk", ".options");
            try {
                Files.writeString(
                        options,
                        "-cp \"" + System.getProperty("java.class.path").replace("\\", "\\\\") + '"');
                LaunchingConnector connector = Bootstrap.virtualMachineManager().defaultConnector();
                Map<String, Argument> settings = connector.defaultArguments();
                set(settings, "main", main.getName() + " " + String.join(" ", arguments));
                set(settings, "options", "@" + options);
                return new Walk().through(connector.launch(settings), main.getName());
            } finally {
                Files.delete(options);
            }
        } catch (IOException | IllegalConnectorArgumentsException | VMStartException e) {
            throw new IllegalStateException("could not start " + main.getName() + " to walk through it", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted during a walk", e);
        }
    }

    private static void set(Map<String, Argument> settings, String name, String value) {
        Objects.requireNonNull(settings.get(name), name).setValue(value);
    }

    private Walk through(VirtualMachine machine, String main) throws InterruptedException {
        EventRequestManager requests = machine.eventRequestManager();
        ClassPrepareRequest prepared = requests.createClassPrepareRequest();
        prepared.addClassFilter(Walk.class.getName());
        prepared.enable();
        List<MethodEntryRequest> walked = List.of(entries(requests, LIBRARY + "*"), entries(requests, FUTURE));
        walked.get(0).addClassExclusionFilter(main + "*");
        walked.get(0).addClassExclusionFilter(Walk.class.getName());
        try {
            while (true) {
                EventSet events = machine.eventQueue().remove();
                for (Event event : events) {
                    if (event
                            instanceof
                            ClassPrepareEvent
                                    seen) { // entries of methods cost a whole JVM its speed: breakpoints do not
                        seen.referenceType().methods().stream()
                                .filter(method -> method.name().equals(BEGIN)
                                        || method.name().equals(END))
                                .forEach(method -> requests.createBreakpointRequest(method.location())
                                        .enable());
                    } else if (event instanceof BreakpointEvent mark) {
                        boolean begins = mark.location().method().name().equals(BEGIN);
                        walked.forEach(each -> each.setEnabled(begins));
                    } else if (event instanceof MethodEntryEvent entry && entry.request() == walked.get(0)) {
                        called(entry.thread(), entry.method());
                    } else if (event instanceof MethodEntryEvent entry
                            && entry.method().isConstructor()) {
                        futures++;
                    }
                }
                events.resume();
            }
        } catch (VMDisconnectedException over) {
            return this;
        }
    }

    private static MethodEntryRequest entries(EventRequestManager requests, String types) {
        MethodEntryRequest request = requests.createMethodEntryRequest();
        request.addClassFilter(types);
        request.setSuspendPolicy(EventRequest.SUSPEND_EVENT_THREAD);
        return request;
    }

    private void called(ThreadReference thread, Method method) {
        if (thread.name().endsWith(TIMER)) {
            return; // what a client does meanwhile is no part of the call
        }
        Deque<Call> stack = stacks.computeIfAbsent(thread.name(), absent -> new ArrayDeque<>());
        int depth;
        try {
            depth = thread.frameCount();
            while (!stack.isEmpty() && !stack.peek().isUnderWay(thread, depth)) {
                stack.pop();
            }
        } catch (IncompatibleThreadStateException e) {
            throw new IllegalStateException(e);
        }
        Call call = new Call(outermost(method.declaringType().name()), method.name(), depth, method);
        Call caller = stack.isEmpty()
                ? threads.computeIfAbsent(thread.name(), name -> new Call("thread", name, 0, null))
                : stack.peek();
        caller.calls.add(call);
        stack.push(call);
    }

    private static String outermost(String type) {
        String simple =
                type.substring(type.lastIndexOf('.', type.contains("/") ? type.indexOf('/') : type.length()) + 1);
        int nested = simple.indexOf('$');
        return nested < 0 ? simple : simple.substring(0, nested);
    }

    /** How many hops there were. */
    public int hops() {
        return threads.values().stream().mapToInt(Walk::hops).sum();
    }

    private static int hops(Call from) {
        int hops = 0;
        for (Call call : from.calls) {
            hops += hops(call) + (isHop(from, call) ? 1 : 0);
        }
        return hops;
    }

    private static boolean isHop(Call from, Call to) {
        return !to.type.equals(from.type) && !to.calls.isEmpty();
    }

    /** The classes into which hops lead. */
    public Set<String> classes() {
        Set<String> classes = new TreeSet<>();
        threads.values().forEach(thread -> addClasses(thread, classes));
        return classes;
    }

    private static void addClasses(Call from, Set<String> classes) {
        for (Call call : from.calls) {
            if (isHop(from, call)) {
                classes.add(call.type);
            }
            addClasses(call, classes);
        }
    }

    /** How many {@code CompletableFuture}s were made. */
    public int futures() {
        return futures;
    }

    /** The walk: each call below its caller. */
    @Override
    public String toString() {
        StringBuilder text = new StringBuilder();
        threads.values().forEach(thread -> thread.print("", text));
        return text.toString();
    }
}
