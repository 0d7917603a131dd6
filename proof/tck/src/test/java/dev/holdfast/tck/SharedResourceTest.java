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
        write(path, 0, 7);
        assertThatThrownBy(() -> one.use(2, 10)).hasMessageContaining("2 found 7 inside");
    }

    @Test
    void aReaderWhoFindsAWriterInsideOrItsTokenSaysSo(@TempDir Path folder) throws IOException {
        Path path = folder.resolve("shared");
        SharedResource one = new SharedResource(path);
        one.use(1, 10);
        one.read(2, 11);
        assertThatThrownBy(() -> one.read(2, 10)).hasMessageContaining("after 10");

        write(path, 0, 7);
        assertThatThrownBy(() -> one.read(2, 12)).hasMessageContaining("found the writer 7");
    }

    @Test
    void aWriterWhoFindsAReaderInsideSaysSo(@TempDir Path folder) throws IOException {
        Path path = folder.resolve("shared");
        SharedResource one = new SharedResource(path);
        write(path, 24, 1);
        assertThatThrownBy(() -> one.use(2, 10)).hasMessageContaining("readers");
    }

    @Test
    void whoTakesMorePermitsThanThereAreSaysSo(@TempDir Path folder) throws IOException {
        Path path = folder.resolve("shared");
        SharedResource one = new SharedResource(path);
        one.share(1, 2, 2);
        write(path, 32, 1);
        one.share(1, 1, 2);
        assertThatThrownBy(() -> one.share(1, 2, 2)).hasMessageContaining("3 permits of 2");
    }

    private static void write(Path path, int at, long word) throws IOException {
        try (FileChannel file = FileChannel.open(path, StandardOpenOption.WRITE)) {
            file.write(ByteBuffer.allocate(8).order(ByteOrder.nativeOrder()).putLong(0, word), at);
        }
    }
}
