package dev.holdfast.challenge.workload;

import dev.holdfast.challenge.check.Check;
import dev.holdfast.challenge.check.Duplicates;
import dev.holdfast.challenge.check.Exclusion;
import dev.holdfast.challenge.check.Tokens;
import dev.holdfast.challenge.history.Stage;
import dev.holdfast.challenge.history.Turn.Outcome;
import dev.holdfast.challenge.history.TurnFile;
import dev.holdfast.challenge.lock.AttackedLock.Grip;
import java.util.List;

/** Read a register, work, write it: nothing but the lock keeps an update from being lost. The writer looks whether it holds. */
final class PlainRegister implements Workload {
    @Override
    public String id() {
        return "plain";
    }

    @Override
    public String title() {
        return "plain register";
    }

    @Override
    public void enter(Stage.Lane lane, Grip grip, TurnFile file) {
        file.read(lane.value());
    }

    @Override
    public void leave(Stage.Lane lane, Grip grip, TurnFile file, long number) {
        if (grip.isValid()) {
            lane.value(number);
            file.wrote(number, Outcome.ACCEPTED);
        } else {
            file.wrote(number, Outcome.REFUSED);
        }
    }

    @Override
    public List<Check> checks() {
        return List.of(new Exclusion("exclusive"), Tokens.rise(), Tokens.order(), Duplicates.lostUpdates());
    }
}
