package dev.holdfast.sim;

import java.util.Locale;
import java.util.function.Supplier;

/** What each machine, the network and the server did, line by line in true time. Costs nothing where nobody reads it. */
final class Timeline {
    private final World world;
    private final StringBuilder text;
    private final boolean kept;

    private Timeline(World world, boolean kept) {
        this.world = world;
        this.kept = kept;
        this.text = new StringBuilder();
    }

    static Timeline kept(World world) {
        return new Timeline(world, true);
    }

    static Timeline none(World world) {
        return new Timeline(world, false);
    }

    void note(String who, Supplier<String> what) {
        if (kept) {
            String micros = String.format(Locale.ROOT, "%,14d µs", world.now() / 1_000);
            text.append(String.format(Locale.ROOT, "%s  %-8s %s%n", micros, who, what.get()));
        }
    }

    @Override
    public String toString() {
        return text.toString();
    }
}
