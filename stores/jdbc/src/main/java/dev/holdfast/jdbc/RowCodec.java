package dev.holdfast.jdbc;

import dev.holdfast.Holder;
import dev.holdfast.spi.Mode;
import dev.holdfast.spi.support.HolderWord;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/**
 * The queue and the shared holders of a lock as text, in columns of its row: entries end with a semicolon, fields are
 * parted by commas, what people wrote is percent-encoded.
 *
 * <pre>
 *   waiting   CLAIM,MODE,PERMITS,OF,CHANNEL,ALIVE_UNTIL;
 *   sharing   CLAIM,MODE,PERMITS,OF,NUMBER,ACQUIRED_AT,EXPIRES_AT,HOST,PID,THREAD,LABEL;
 * </pre>
 */
final class RowCodec {
    private static final int WAITING_FIELDS = 6;
    private static final int SHARING_FIELDS = 11;

    private RowCodec() {}

    static String waiting(List<WaiterEntry> queue) {
        StringBuilder text = new StringBuilder();
        for (WaiterEntry place : queue) {
            text.append(place.id()).append(',').append(mode(place.mode())).append(',');
            text.append(place.channel()).append(',').append(place.aliveUntil()).append(';');
        }
        return text.toString();
    }

    static List<WaiterEntry> waiting(String text) {
        return entries(
                text,
                WAITING_FIELDS,
                field -> new WaiterEntry(field[0], mode(field, 1), field[4], Long.parseLong(field[5])));
    }

    static String sharing(List<HolderEntry> holdings) {
        StringBuilder text = new StringBuilder();
        for (HolderEntry each : holdings) {
            text.append(each.id()).append(',').append(mode(each.mode())).append(',');
            text.append(each.number()).append(',').append(each.acquiredAt()).append(',');
            text.append(each.expiresAt())
                    .append(',')
                    .append(encoded(each.holder().host()))
                    .append(',');
            text.append(each.holder().pid())
                    .append(',')
                    .append(encoded(each.holder().thread()));
            text.append(',').append(encoded(each.holder().label())).append(';');
        }
        return text.toString();
    }

    static List<HolderEntry> sharing(String text) {
        return entries(text, SHARING_FIELDS, field -> {
            Holder holder = new Holder(
                    HolderWord.decode(field[7]),
                    Long.parseLong(field[8]),
                    HolderWord.decode(field[9]),
                    HolderWord.decode(field[10]));
            return new HolderEntry(
                    field[0],
                    mode(field, 1),
                    Long.parseLong(field[4]),
                    Long.parseLong(field[5]),
                    Long.parseLong(field[6]),
                    holder);
        });
    }

    private static <T> List<T> entries(String text, int fields, Function<String[], T> read) {
        if (text.isEmpty()) {
            return List.of();
        }
        List<T> found = new ArrayList<>();
        for (String entry : text.split(";")) {
            String[] parts = entry.split(",", -1);
            if (parts.length != fields) {
                throw new IllegalArgumentException("a queue or holders in another form: " + entry);
            }
            found.add(read.apply(parts));
        }
        return found;
    }

    private static String mode(Mode mode) {
        if (mode instanceof Mode.Permits permits) {
            return "P," + permits.permits() + "," + permits.of();
        }
        return (mode instanceof Mode.Shared ? "S" : "X") + ",1,1";
    }

    private static Mode mode(String[] field, int at) {
        return switch (field[at]) {
            case "X" -> Mode.EXCLUSIVE;
            case "S" -> Mode.SHARED;
            case "P" -> new Mode.Permits(Integer.parseInt(field[at + 1]), Integer.parseInt(field[at + 2]));
            default -> throw new IllegalArgumentException("a mode that is unknown: " + field[at]);
        };
    }

    private static String encoded(String text) {
        return HolderWord.encode(RowParameters.limited(text));
    }
}
