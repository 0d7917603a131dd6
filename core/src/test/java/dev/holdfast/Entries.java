package dev.holdfast;

import java.lang.reflect.Field;
import java.util.Arrays;
import java.util.Map;

/** Reaches the count of entries of a hold, which nobody could raise to its bound one by one. */
final class Entries {
    private Entries() {}

    static void set(LockClient client, String name, int entries) throws ReflectiveOperationException {
        Object local = ((Map<?, ?>) queues(client).get(LockMode.EXCLUSIVE)).get(name);
        Object hold = ((Map<?, ?>) read(read(local, "owners"), "holds")).get(Thread.currentThread());
        field(hold, "exclusiveEntries").setInt(hold, entries);
    }

    /** The queues of a client: by mode, then by name. */
    static Map<?, ?> queues(LockClient client) throws ReflectiveOperationException {
        Object context = read(read(client, "engine"), "context");
        return (Map<?, ?>) read(read(context, "queues"), "queues");
    }

    static Object read(Object of, String name) throws ReflectiveOperationException {
        return field(of, name).get(of);
    }

    private static Field field(Object of, String name) throws ReflectiveOperationException {
        Class<?> type = of.getClass();
        while (type.getSuperclass() != Object.class && !hasField(type, name)) {
            type = type.getSuperclass();
        }
        Field field = type.getDeclaredField(name);
        field.setAccessible(true);
        return field;
    }

    private static boolean hasField(Class<?> type, String name) {
        return Arrays.stream(type.getDeclaredFields())
                .anyMatch(field -> field.getName().equals(name));
    }
}
