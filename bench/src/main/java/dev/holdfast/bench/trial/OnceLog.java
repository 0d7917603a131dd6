package dev.holdfast.bench.trial;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;

/** What the jobs of one library did, by the log. */
final class OnceLog {
    /** A run of the job. */
    private static final class Run {
        final long period;
        final String process;
        final long began;
        long ended = Long.MAX_VALUE;
        long told = Long.MAX_VALUE;
        boolean done;

        Run(long period, String process, long began) {
            this.period = period;
            this.process = process;
            this.began = began;
        }

        boolean overlaps(Run other) {
            return Math.max(began, other.began) < Math.min(ended, other.ended);
        }

        /** Whether the one that began first had not been told that its turn was over. */
        boolean overlapsUntold(Run other) {
            return Math.max(began, other.began) < Math.min(Math.min(ended, told), Math.min(other.ended, other.told));
        }
    }

    private final Map<String, Run> runs = new LinkedHashMap<>();

    private OnceLog() {}

    static OnceLog of(Path folder, String library) throws IOException {
        OnceLog log = new OnceLog();
        for (String line : Files.readAllLines(folder.resolve("log"))) {
            String[] words = line.split(" ");
            long time = Long.parseLong(words[words.length - 1]);
            if (words[0].equals("kill")) {
                log.killed(words[1], time);
            } else if (words[0].equals(library)) {
                log.note(words[1], Long.parseLong(words[2]), words[3], words[4], time);
            }
        }
        return log;
    }

    private void killed(String process, long time) {
        runs.values().stream()
                .filter(run -> run.process.equals(process) && run.ended == Long.MAX_VALUE)
                .forEach(run -> run.ended = time);
    }

    private void note(String event, long period, String id, String process, long time) {
        if (event.equals("begin")) {
            runs.put(id, new Run(period, process, time));
            return;
        }
        Run run = runs.get(id);
        if (run == null) {
            throw new IllegalStateException(event + " of a run that did not begin: " + id);
        }
        switch (event) {
            case "end" -> run.ended = time;
            case "lost" -> run.told = time;
            default -> run.done = true;
        }
    }

    /** A row of the table; true if no period was done twice, and no two runs overlapped untold. */
    boolean row(String title, long first, long last) {
        Map<Long, Integer> done = new HashMap<>();
        List<Run> all = new ArrayList<>(runs.values());
        all.stream().filter(run -> run.done).forEach(run -> done.merge(run.period, 1, Integer::sum));
        long overlapping = 0;
        long untold = 0;
        for (int one = 0; one < all.size(); one++) {
            for (int other = one + 1; other < all.size(); other++) {
                overlapping += all.get(one).overlaps(all.get(other)) ? 1 : 0;
                untold += all.get(one).overlapsUntold(all.get(other)) ? 1 : 0;
            }
        }
        long twice = done.values().stream().filter(count -> count > 1).count();
        List<Long> missed = LongStream.rangeClosed(first, last)
                .boxed()
                .filter(period -> !done.containsKey(period))
                .toList();
        Trial.row(
                title,
                last - first + 1,
                all.size(),
                twice,
                missed.size(),
                missed.stream().filter(OnceServer::isDoomed).count(),
                missed.stream().filter(OnceServer::isLong).count(),
                overlapping,
                untold);
        return twice == 0 && untold == 0;
    }
}
