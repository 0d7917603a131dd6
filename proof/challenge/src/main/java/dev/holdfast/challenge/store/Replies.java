package dev.holdfast.challenge.store;

/** What must be known of the bytes by which servers answer. A chunk holds whole answers, as they are small. */
final class Replies {
    private static final byte[] READY_AND_IDLE = {'Z', 0, 0, 0, 5, 'I'};

    // The protocol of MariaDB and MySQL.
    private static final int PACKET_HEAD = 4;
    private static final int OK = 0x00;
    private static final int END_OF_ROWS = 0xFE;
    private static final int SHORT_END_OF_ROWS = 5;
    private static final int IN_TRANSACTION = 1;

    // HTTP/2.
    private static final int FRAME_HEAD = 9;
    private static final int FRAME_TYPE = 3;
    private static final int DATA = 0;

    private Replies() {}

    /** Whether PostgreSQL is ready for the next query, and no transaction is open. */
    static boolean isIdlePostgres(byte[] chunk) {
        int from = chunk.length - READY_AND_IDLE.length;
        for (int i = 0; i < READY_AND_IDLE.length; i++) {
            if (from < 0 || chunk[from + i] != READY_AND_IDLE[i]) {
                return false;
            }
        }
        return true;
    }

    /** Whether MariaDB has done it without an error, and no transaction is open: by the status in the last packet. */
    static boolean isIdleMariaDb(byte[] chunk) {
        int packet = 0;
        int end = chunk.length;
        while (packet + PACKET_HEAD < chunk.length) {
            end = packet + PACKET_HEAD + littleEndian(chunk, packet, 3);
            if (end >= chunk.length) {
                break;
            }
            packet = end;
        }
        int body = packet + PACKET_HEAD;
        if (end != chunk.length || body >= end) {
            return false; // not the end of an answer
        }
        int kind = chunk[body] & 0xFF;
        if (kind == END_OF_ROWS && end - body == SHORT_END_OF_ROWS) {
            return !isInTransaction(chunk, body + 3);
        }
        int status = afterNumber(chunk, afterNumber(chunk, body + 1)); // behind two counts
        return (kind == OK || kind == END_OF_ROWS) && !isInTransaction(chunk, status);
    }

    private static boolean isInTransaction(byte[] chunk, int status) {
        return status + 1 >= chunk.length || (chunk[status] & IN_TRANSACTION) != 0;
    }

    /** Behind a number whose first byte says how long it is. */
    private static int afterNumber(byte[] chunk, int at) {
        int first = at < chunk.length ? chunk[at] & 0xFF : 0;
        return at
                + switch (first) {
                    case 0xFC -> 3;
                    case 0xFD -> 4;
                    case 0xFE -> 9;
                    default -> 1;
                };
    }

    private static int littleEndian(byte[] chunk, int at, int bytes) {
        int number = 0;
        for (int i = bytes - 1; i >= 0; i--) {
            number = (number << Byte.SIZE) | (chunk[at + i] & 0xFF);
        }
        return number;
    }

    /** Whether there is a message in it, and not only what HTTP/2 says of itself: a ping comes before the answer. */
    static boolean isMessage(byte[] chunk) {
        int frame = 0;
        while (frame + FRAME_HEAD <= chunk.length) {
            if (chunk[frame + FRAME_TYPE] == DATA) {
                return true;
            }
            int length = ((chunk[frame] & 0xFF) << 16) | ((chunk[frame + 1] & 0xFF) << 8) | (chunk[frame + 2] & 0xFF);
            frame += FRAME_HEAD + length;
        }
        return false;
    }
}
