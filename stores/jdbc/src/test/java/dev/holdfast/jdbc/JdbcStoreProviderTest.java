package dev.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.LockClient;
import dev.holdfast.spi.StoreProvider;
import java.util.ServiceLoader;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class JdbcStoreProviderTest {
    @Test
    void theServiceLoaderFindsIt() {
        assertThat(ServiceLoader.load(StoreProvider.class))
                .hasAtLeastOneElementOfType(JdbcStoreProvider.class)
                .anySatisfy(provider -> assertThat(provider.schemes()).containsExactly("jdbc"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "jdbc:",
                "jdbc:xyz:secret",
                "jdbc:oracle:thin:secret@//host/db",
                "jdbc:sqlite:locks.db?password=secret"
            })
    void aDatabaseThatIsNotSupportedIsRefusedWithThoseThatAre(String url) {
        assertThatThrownBy(() -> LockClient.connect(url))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("supported: jdbc:postgresql://")
                .hasMessageContaining("sqlite:PATH")
                .hasMessageNotContaining("secret")
                .hasMessageNotContaining("\n");
    }
}
