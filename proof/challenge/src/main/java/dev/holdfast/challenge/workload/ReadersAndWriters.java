package dev.holdfast.challenge.workload;

import dev.holdfast.challenge.check.Check;
import dev.holdfast.challenge.check.Exclusion;
import dev.holdfast.challenge.check.Tokens;
import dev.holdfast.spi.Mode;
import java.util.List;
import java.util.Random;

/** Readers beside readers, and every third turn a writer. */
final class ReadersAndWriters implements Workload {
    private static final int WRITER_EVERY = 3;

    @Override
    public String id() {
        return "shared";
    }

    @Override
    public String title() {
        return "readers and writers";
    }

    @Override
    public Mode mode(Random random) {
        return random.nextInt(WRITER_EVERY) == 0 ? Mode.EXCLUSIVE : Mode.SHARED;
    }

    @Override
    public List<Check> checks() {
        return List.of(new Exclusion("shared"), Tokens.rise(), Tokens.order());
    }
}
