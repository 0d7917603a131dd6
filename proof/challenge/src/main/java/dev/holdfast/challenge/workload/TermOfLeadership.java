package dev.holdfast.challenge.workload;

import dev.holdfast.challenge.check.Check;
import dev.holdfast.challenge.check.Exclusion;
import dev.holdfast.challenge.check.Tokens;
import java.util.List;

/** A term of leadership: stand, lead, resign. */
final class TermOfLeadership implements Workload {
    @Override
    public String id() {
        return "term";
    }

    @Override
    public String title() {
        return "term of leadership";
    }

    @Override
    public List<Check> checks() {
        return List.of(new Exclusion("exclusive"), Tokens.rise(), Tokens.order());
    }
}
