package dev.holdfast.challenge.workload;

import dev.holdfast.challenge.check.Check;
import dev.holdfast.challenge.check.Duplicates;
import dev.holdfast.challenge.check.Exclusion;
import dev.holdfast.challenge.check.Refused;
import dev.holdfast.challenge.check.Tokens;
import dev.holdfast.challenge.history.Stage;
import dev.holdfast.challenge.history.Turn.Outcome;
import dev.holdfast.challenge.history.TurnFile;
import dev.holdfast.challenge.lock.AttackedLock.Grip;
import java.util.List;

/**
 * A register that checks tokens when it is read and when it is written, and holders that never look whether they hold. Its
 * one word has the highest token seen, twice, plus one when the holder of that token has written.
 */
final class FencedRegister implements Workload {
    @Override
    public String id() {
        return "fenced";
    }

    @Override
    public String title() {
        return "fenced register";
    }

    @Override
    public void enter(Stage.Lane lane, Grip grip, TurnFile file) {
        long seen = lane.fenced();
        while (tokenOf(seen) < grip.token() && !lane.fenced(seen, grip.token() << 1)) {
            seen = lane.fenced();
        }
        file.read(seen);
    }

    @Override
    public void leave(Stage.Lane lane, Grip grip, TurnFile file, long number) {
        long mine = grip.token() << 1;
        file.wrote(mine | 1, lane.fenced(mine, mine | 1) ? Outcome.ACCEPTED : Outcome.REFUSED);
    }

    private static long tokenOf(long word) {
        return word >> 1;
    }

    @Override
    public List<Check> checks() {
        return List.of(
                new Exclusion("exclusive"),
                Tokens.rise(),
                Tokens.order(),
                Duplicates.fencedTokens(),
                Duplicates.fencedReads(),
                new Refused());
    }
}
