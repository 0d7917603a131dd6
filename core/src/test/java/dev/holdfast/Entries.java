package dev.holdfast;

import java.lang.reflect.Field;
import java.util.Arrays;
import java.util.Map;

/** Reaches the count of entries of a hold, which nobody could raise to its bound one by one. */
final class Entries {
    private Entries() {}

    static void set(LockClient client, String name, int entries) throws ReflectiveOperationException {
        Object local = read(locks(client).get(name), "writers");
        Object hold = ((Map<?, ?>) read(local, "owners")).get(Thread.currentThread());
        field(hold, "exclusiveEntries").setInt(hold, entries);
    }

    /** What a client keeps of locks, by name. */
    static Map<?, ?> locks(LockClient client) throws ReflectiveOperationException {
        return (Map<?, ?>) read(read(read(client, "engine"), "locks"), "locks");
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
