package dev.holdfast.flashsale;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Starts of servers that fail. */
@Tag("thorough")
class ServersTest {
    @Test
    void aServerThatFailedToStartIsStartedAgain() throws Exception {
        try (Storage storage = Storage.on(null);
                Balancer balancer = new Balancer(null, 0)) {
            Map<String, String> settings = new HashMap<>(storage.settings());
            settings.put("SALE_PAUSE_SECONDS", "no number");
            try (Servers servers = new Servers(settings, balancer, line -> {}, (server, fault) -> {})) {
                assertThatThrownBy(() -> servers.start(1)).hasMessageContaining("ended while it started");
                assertThatThrownBy(() -> servers.restart(1)).hasMessageContaining("ended while it started");

                settings.remove("SALE_PAUSE_SECONDS");
                servers.restart(1);

                assertThat(servers.figures()).containsExactly(new Servers.Figures(1, "UP", 0, 0));
            }
        }
    }
}
