package dev.holdfast.tck.fuzz;

import dev.holdfast.spi.Mode;
import java.util.Locale;

/**
 * One line of a script, written {@code CLIENT VERB NAME CLAIM MODE MILLIS}, such as {@code 2 try 0 5 P1/3 200}. What a
 * verb has no use for is zero.
 *
 * @param client who does it
 * @param name of which lock
 * @param claim the label under which later lines name this claim
 * @param mode {@code X}, {@code S}, or {@code P1/3}
 * @param millis a lease, or how long a pause or a fault lasts
 */
record Op(int client, Verb verb, int name, int claim, String mode, long millis) {

    /** What can be done, to the store or to the wire. */
    enum Verb {
        TRY,
        WAIT,
        REPEAT,
        CANCEL,
        RENEW,
        EXTEND,
        DOWNGRADE,
        RELEASE,
        WITHDRAW,
        STATUS,
        LIST,
        REVOKE,
        BREAK,
        CLOSE,
        KILL,
        PASS,
        /** The reply to the client's next request is lost, and its connection with it. */
        DROP,
        /** Replies to the client are kept back for a while. */
        HOLD,
        /** The client's requests disappear for a while. */
        MUTE,
        /** Replies to the client disappear for a while. */
        DEAF,
        /** The client's connections are reset while its next request is under way. */
        CUT,
        /** Replies are kept back for a while on the client's connections, one by one, which are freed in another order. */
        CLOG,
        /** The reply to the client's request of that number, from 0 on, is lost, and its connection with it. */
        LOSE,
        /** The client's connections are reset while its request of that number is under way. */
        SEVER,
        /** The server stands still for a while. */
        STOP,
        /** The server is killed, and started again. */
        CRASH,
        /** The server's clock is set ahead by that time, or back if it is negative. */
        CLOCK;

        boolean isRead() {
            return this == STATUS || this == LIST;
        }

        boolean isFault() {
            return compareTo(DROP) >= 0;
        }

        /** Whether a server may forget it when it is killed: others wait until the lease is over. */
        boolean givesBack() {
            return this == RELEASE || this == WITHDRAW || this == CANCEL;
        }

        /** Whether it lies in wait for the whole script, for one packet. */
        boolean isForOnePacket() {
            return this == LOSE || this == SEVER;
        }
    }

    static Op parse(String line) {
        String[] part = line.strip().split(" ");
        return new Op(
                Integer.parseInt(part[0]),
                Verb.valueOf(part[1].toUpperCase(Locale.ROOT)),
                Integer.parseInt(part[2]),
                Integer.parseInt(part[3]),
                part[4],
                Long.parseLong(part[5]));
    }

    @Override
    public String toString() {
        return client + " " + verb.name().toLowerCase(Locale.ROOT) + " " + name + " " + claim + " " + mode + " "
                + millis;
    }

    /** How the claim of this line wants the lock. */
    Mode wanted() {
        if (mode.startsWith("P")) {
            String[] permits = mode.substring(1).split("/");
            return new Mode.Permits(Integer.parseInt(permits[0]), Integer.parseInt(permits[1]));
        }
        return mode.equals("S") ? Mode.SHARED : Mode.EXCLUSIVE;
    }
}
