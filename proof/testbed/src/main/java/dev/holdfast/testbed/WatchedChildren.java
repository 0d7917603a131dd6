package dev.holdfast.testbed;

import java.util.HashMap;
import java.util.Map;

/** Child processes of this JVM, and theirs. */
record WatchedChildren() implements Watched {
    @Override
    public String name() {
        return "child process";
    }

    @Override
    public Map<String, String> present() {
        Map<String, String> present = new HashMap<>();
        ProcessHandle.current().descendants().forEach(child -> {
            ProcessHandle.Info info = child.info();
            // A process id is given again; together with the time of its start it is not.
            String key = child.pid() + "@"
                    + info.startInstant().map(Object::toString).orElse("");
            present.put(
                    key,
                    child.pid() + " " + info.commandLine().or(info::command).orElse("(unknown command)"));
        });
        return present;
    }
}
