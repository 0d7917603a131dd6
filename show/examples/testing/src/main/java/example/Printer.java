package example;

import dev.holdfast.TokenGate;
import java.util.ArrayList;
import java.util.List;

/** The only printer. It refuses a job that comes with an older token than it has seen. */
class Printer {
    private final TokenGate gate = new TokenGate("printer");
    private final List<String> printed = new ArrayList<>();

    synchronized void print(String label, long token) {
        gate.check(token);
        printed.add(label);
    }

    synchronized List<String> printed() {
        return List.copyOf(printed);
    }
}
