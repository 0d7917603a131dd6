package dev.holdfast.tck.fuzz;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import dev.holdfast.tck.fuzz.Op.Verb;
import java.time.Duration;
import java.util.List;

/**
 * Short scripts with one fault, at each packet of each client in turn: the reply is lost, or the connection is reset
 * while the request is under way; and with the server killed after each line. It goes on until the fault finds no packet
 * any more, or the time is over.
 */
final class EachPacket {
    private static final List<String> SCRIPTS = List.of(
            "1: 0 try 0 0 X 2500; 1 wait 0 1 X 2500; 0 renew 0 0 - 2500; 0 release 0 0 - 0; "
                    + "1 renew 0 1 - 2500; 2 try 0 2 X 1000",
            "1: 0 try 0 0 P1/2 2500; 1 wait 0 1 P2/2 2500; 2 wait 0 2 P1/2 2500; 1 cancel 0 1 - 0; "
                    + "0 release 0 0 - 0; 1 try 0 3 P1/2 1000",
            "1: 0 try 0 0 X 2500; 1 wait 0 1 S 2500; 2 try 0 2 S 1000; 0 downgrade 0 0 - 0; "
                    + "0 renew 0 0 - 1000; 0 release 0 0 - 0",
            "1: 0 try 0 0 X 2500; 1 revoke 0 0 - 0; 0 renew 0 0 - 2500; 1 wait 0 1 X 2500; 0 release 0 0 - 0",
            "1: 0 try 0 0 X 2500; 0 repeat 0 0 - 0; 0 extend 0 0 - 2500; 0 release 0 0 - 0; "
                    + "1 try 0 1 X 2500; 1 withdraw 0 1 - 0; 0 try 0 2 X 1000",
            "1: 0 try 0 0 S 2500; 1 try 0 1 S 2500; 2 wait 0 2 X 2500; 0 withdraw 0 0 - 0; "
                    + "1 break 0 1 - 0; 2 renew 0 2 - 2500; 3 list 0 0 - 0");

    private final StoreFuzz target;
    private final Player player;
    private int played;
    private int bitten;
    private int finished;

    EachPacket(StoreFuzz target, Player player) {
        this.target = target;
        this.player = player;
    }

    void run(Duration most) throws Exception {
        long end = System.nanoTime() + most.toNanos();
        for (String text : SCRIPTS) {
            Script script = Script.parse(text);
            for (int client = 0; client < Script.CLIENTS; client++) {
                int each = client;
                if (script.ops().stream().anyMatch(op -> op.client() == each)) {
                    atEachPacket(script, client, Verb.LOSE, end);
                    atEachPacket(script, client, Verb.SEVER, end);
                }
            }
            for (int after = 1;
                    target.process().isPresent() && after <= script.ops().size();
                    after++) {
                if (goesOn(end)) {
                    player.playOrFail(script.with(after, new Op(0, Verb.CRASH, 0, 0, "-", 0)), "a short script");
                    played++;
                    bitten++;
                }
            }
            finished += System.nanoTime() < end ? 1 : 0;
        }
        assertThat(bitten).as("faults that met a packet").isPositive();
    }

    private void atEachPacket(Script script, int client, Verb verb, long end) throws Exception {
        for (int packet = 0; goesOn(end); packet++) {
            Script harmed = script.with(0, new Op(client, verb, 0, 0, "-", packet));
            try (Player.Clients clients = new Player.Clients()) {
                History history = player.history(harmed, clients);
                Broken found = player.play(history, harmed, clients);
                if (found != null) {
                    fail(player.story(found, "a fault at one packet"));
                }
                played++;
                if (!history.hasBitten()) {
                    return;
                }
                bitten++;
            }
        }
    }

    /** On a busy machine one script may take all of the time: it ends the search only after one fault has met a packet. */
    private boolean goesOn(long end) {
        return bitten == 0 || System.nanoTime() < end;
    }

    @Override
    public String toString() {
        return finished + " of " + SCRIPTS.size() + " short scripts were gone through, " + played + " times played, "
                + bitten + " faults met a packet";
    }
}
