package dev.holdfast.cli;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** How many tickets are left: a number in a file that all processes share, as they would share a row in a database. */
final class Stock implements AutoCloseable {
    private final FileChannel file;

    private Stock(FileChannel file) {
        this.file = file;
    }

    static Stock open(Path path) {
        try {
            return new Stock(FileChannel.open(
                    path, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE));
        } catch (IOException e) {
            throw new UncheckedIOException("cannot open the stock " + path, e);
        }
    }

    long read() {
        ByteBuffer number = ByteBuffer.allocate(Long.BYTES);
        try {
            file.read(number, 0);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read the stock", e);
        }
        return number.getLong(0);
    }

    void write(long left) {
        try {
            file.write(ByteBuffer.allocate(Long.BYTES).putLong(0, left), 0);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot write the stock", e);
        }
    }

    @Override
    public void close() {
        try {
            file.close();
        } catch (IOException e) {
            throw new UncheckedIOException("cannot close the stock", e);
        }
    }
}
