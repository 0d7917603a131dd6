package dev.holdfast.challenge.history;

import dev.holdfast.challenge.history.LaneHistory.Bite;
import dev.holdfast.challenge.history.LaneHistory.Cell;
import dev.holdfast.challenge.history.LaneHistory.Probe;
import dev.holdfast.challenge.history.LaneHistory.Stall;
import dev.holdfast.challenge.history.Turn.Outcome;
import dev.holdfast.tck.History.Ending;
import dev.holdfast.tck.Modes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A history as text, to be judged again without any server. A line has words with blanks between them:
 *
 * <pre>
 *   holdfast-challenge 2
 *   cell STORE LOCK WORKLOAD FAULT SEED
 *   bite VICTIM BEGAN HEALED yes|no
 *   probe HEALED OBTAINED LIMIT
 *   residue TEXT...
 *   stall BEGAN ENDED
 *   turn WORKER ASKED BEGAN LASTVALID LEAVING LEFT ENDING MODE TOKEN SCOPE READ WROTE OUTCOME STALL
 *   end
 * </pre>
 */
public final class HistoryFile {
    private static final String HEAD = "holdfast-challenge 2";
    private static final String END = "end";

    private HistoryFile() {}

    /** Writes it. */
    public static void write(Path file, LaneHistory history) throws IOException {
        List<String> lines = new ArrayList<>(List.of(HEAD));
        Cell cell = history.cell();
        lines.add(line("cell", cell.store(), cell.lock(), cell.workload(), cell.fault(), history.seed()));
        history.bites()
                .forEach(bite ->
                        lines.add(line("bite", bite.victim(), bite.began(), bite.healed(), bite.bit() ? "yes" : "no")));
        history.probes()
                .forEach(probe -> lines.add(line("probe", probe.healed(), probe.obtained(), probe.limitNanos())));
        history.residue().forEach(left -> lines.add("residue " + left.replace('\n', ' ')));
        history.stalls().forEach(stall -> lines.add(line("stall", stall.began(), stall.ended())));
        history.turns()
                .forEach(turn -> lines.add(line(
                        "turn",
                        turn.worker(),
                        turn.asked(),
                        turn.began(),
                        turn.lastValid(),
                        turn.leaving(),
                        turn.left(),
                        turn.ending(),
                        Modes.write(turn.mode()),
                        turn.token(),
                        turn.scope(),
                        turn.read(),
                        turn.wrote(),
                        turn.outcome(),
                        turn.stall())));
        lines.add(END);
        Files.write(file, lines);
    }

    /**
     * Reads it.
     *
     * @throws IllegalArgumentException if it is no such file; names the line
     */
    public static LaneHistory read(Path file) throws IOException {
        List<String> lines = Files.readAllLines(file);
        if (lines.isEmpty() || !lines.get(0).equals(HEAD)) {
            throw new IllegalArgumentException(
                    file + " is no history of a challenge: its first line is not '" + HEAD + "'");
        }
        int last = lines.size() - 1;
        if (!lines.get(last).equals(END)) {
            throw new IllegalArgumentException(file + " is cut off: its last line is not '" + END + "'");
        }
        Reading reading = new Reading();
        for (int i = 1; i < last; i++) {
            try {
                reading.add(lines.get(i), lines.get(i).split(" ", -1));
            } catch (RuntimeException e) {
                throw new IllegalArgumentException(file + ", line " + (i + 1) + " cannot be read: " + lines.get(i), e);
            }
        }
        return reading.history();
    }

    private static final class Reading {
        private Cell cell = new Cell("", "", "", "");
        private long seed;
        private final List<Turn> turns = new ArrayList<>();
        private final List<Bite> bites = new ArrayList<>();
        private final List<Probe> probes = new ArrayList<>();
        private final List<String> residue = new ArrayList<>();
        private final List<Stall> stalls = new ArrayList<>();

        void add(String line, String[] words) {
            switch (words[0]) {
                case "cell" -> {
                    cell = new Cell(words[1], words[2], words[3], words[4]);
                    seed = number(words[5]);
                }
                case "bite" ->
                    bites.add(new Bite(
                            (int) number(words[1]), number(words[2]), number(words[3]), words[4].equals("yes")));
                case "probe" -> probes.add(new Probe(number(words[1]), number(words[2]), number(words[3])));
                case "stall" -> stalls.add(new Stall(number(words[1]), number(words[2])));
                case "residue" -> residue.add(line.substring("residue ".length()));
                case "turn" -> turns.add(turn(words));
                default -> throw new IllegalArgumentException("no such line");
            }
        }

        private static Turn turn(String[] words) {
            return new Turn(
                    (int) number(words[1]),
                    number(words[2]),
                    number(words[3]),
                    number(words[4]),
                    number(words[5]),
                    number(words[6]),
                    Ending.valueOf(words[7]),
                    Modes.read(words[8]),
                    number(words[9]),
                    number(words[10]),
                    number(words[11]),
                    number(words[12]),
                    Outcome.valueOf(words[13]),
                    number(words[14]));
        }

        LaneHistory history() {
            return new LaneHistory(cell, seed, turns, bites, probes, residue, stalls);
        }
    }

    private static long number(String word) {
        return Long.parseLong(word);
    }

    private static String line(Object... words) {
        return String.join(" ", List.of(words).stream().map(String::valueOf).toList());
    }
}
