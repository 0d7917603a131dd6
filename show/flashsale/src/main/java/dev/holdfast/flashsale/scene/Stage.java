package dev.holdfast.flashsale.scene;

import dev.holdfast.LockClient;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The scenes as a server plays them. Thread-safe. */
public final class Stage {
    private final Map<String, Scene> scenes;

    /** With the locks and the database of a server. */
    public Stage(LockClient client, Notes notes) {
        scenes = Map.of(
                "hot-key", new HotKey(client, notes),
                "price", new PriceChange(client, notes),
                "report", new Report(client),
                "house", new House(client));
    }

    /** Plays a part; empty if there is no such scene. */
    public Optional<List<Span>> play(String scene, Part part) throws InterruptedException {
        Scene found = scenes.get(scene);
        return found == null ? Optional.empty() : Optional.of(found.play(part));
    }
}
