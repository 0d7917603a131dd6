package dev.holdfast.cli;

import java.util.Iterator;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Writes JSON: objects from maps, arrays from iterables, and strings, numbers, booleans, null. Pure ASCII, whatever the locale. */
final class Json {
    private static final int LAST_CONTROL = 0x1f;
    private static final int LAST_ASCII = 0x7e;

    private Json() {}

    static String of(@Nullable Object value) {
        StringBuilder out = new StringBuilder();
        write(value, out);
        return out.toString();
    }

    private static void write(@Nullable Object value, StringBuilder out) {
        if (value instanceof Map<?, ?> object) {
            out.append('{');
            for (Iterator<? extends Map.Entry<?, ?>> i = object.entrySet().iterator(); i.hasNext(); ) {
                Map.Entry<?, ?> field = i.next();
                string(String.valueOf(field.getKey()), out);
                out.append(':');
                write(field.getValue(), out);
                out.append(i.hasNext() ? "," : "");
            }
            out.append('}');
        } else if (value instanceof Iterable<?> array) {
            out.append('[');
            for (Iterator<?> i = array.iterator(); i.hasNext(); ) {
                write(i.next(), out);
                out.append(i.hasNext() ? "," : "");
            }
            out.append(']');
        } else if (value == null || value instanceof Number || value instanceof Boolean) {
            out.append(value);
        } else {
            string(value.toString(), out);
        }
    }

    private static void string(String text, StringBuilder out) {
        out.append('"');
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '"' || c == '\\') {
                out.append('\\').append(c);
            } else if (c <= LAST_CONTROL || c > LAST_ASCII) {
                out.append("\\u").append(Character.forDigit(c >> 12, 16));
                out.append(Character.forDigit(c >> 8 & 15, 16)).append(Character.forDigit(c >> 4 & 15, 16));
                out.append(Character.forDigit(c & 15, 16));
            } else {
                out.append(c);
            }
        }
        out.append('"');
    }
}
