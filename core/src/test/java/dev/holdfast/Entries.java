package dev.holdfast;

import java.lang.reflect.Field;
import java.util.Map;

/** Reaches the count of entries of a hold, which nobody could raise to its bound one by one. */
final class Entries {
    private Entries() {}

    static void set(LockClient client, String name, int entries) throws ReflectiveOperationException {
        Object engine = read(client, "engine");
        Object local = ((Map<?, ?>) read(engine, "locks")).get(name);
        Object hold = ((Map<?, ?>) read(local, "owners")).get(Thread.currentThread());
        field(hold, "entries").setInt(hold, entries);
    }

    static Object read(Object of, String name) throws ReflectiveOperationException {
        return field(of, name).get(of);
    }

    private static Field field(Object of, String name) throws ReflectiveOperationException {
        Field field = of.getClass().getDeclaredField(name);
        field.setAccessible(true);
        return field;
    }
}
