package dev.holdfast.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SharedResourceTest {
    @Test
    void twoMappingsOfAFileAreOne(@TempDir Path folder) throws IOException {
        SharedResource one = new SharedResource(folder.resolve("shared"));
        SharedResource two = new SharedResource(folder.resolve("shared"));
        one.use(1, 10);
        two.use(2, 11);
        assertThat(one.counter()).isEqualTo(2);
    }

    @Test
    void aTokenThatDoesNotRiseIsRefused(@TempDir Path folder) throws IOException {
        SharedResource one = new SharedResource(folder.resolve("shared"));
        one.use(1, 10);
        assertThatThrownBy(() -> one.use(2, 10)).hasMessageContaining("after 10");
    }

    @Test
    void whoFindsAnotherInsideSaysSo(@TempDir Path folder) throws IOException {
        Path path = folder.resolve("shared");
        SharedResource one = new SharedResource(path);
        try (FileChannel file = FileChannel.open(path, StandardOpenOption.WRITE)) {
            file.write(ByteBuffer.allocate(8).order(ByteOrder.nativeOrder()).putLong(0, 7), 0);
        }
        assertThatThrownBy(() -> one.use(2, 10)).hasMessageContaining("2 found 7 inside");
    }
}
