package dev.holdfast.cli;

import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import org.sqlite.SQLiteJDBCLoader;
import org.sqlite.util.LibraryLoaderUtil;
import org.sqlite.util.OSInfo;

/**
 * SQLite's native library, unpacked once for all processes of this user.
 *
 * <p>Left alone, the driver unpacks it anew for every process: that takes a part of each start, leaves the file behind
 * after kill -9, and prints a stack trace when two processes tidy up at the same time. Where this here does not succeed
 * (no home, a full disk, a folder of somebody else), the driver goes its own way.
 */
final class SqliteLibrary {
    private static final String FOLDER_PROPERTY = "org.sqlite.lib.path";
    private static final String TIDIED_FOLDER_PROPERTY = "org.sqlite.tmpdir";

    private SqliteLibrary() {}

    /** Has it ready in a folder below the one given, and tells the driver. */
    static void unpackOnce(Path cache) {
        if (System.getProperty(FOLDER_PROPERTY) != null) {
            return;
        }
        String name = LibraryLoaderUtil.getNativeLibName();
        URL packed = SQLiteJDBCLoader.class.getResource(LibraryLoaderUtil.getNativeLibResourcePath() + "/" + name);
        Path folder = cache.resolve("sqlite-" + SQLiteJDBCLoader.getVersion())
                .resolve(OSInfo.getNativeLibFolderPathForCurrentOS());
        try {
            if (packed != null && isReady(folder, name, packed)) {
                System.setProperty(FOLDER_PROPERTY, folder.toString());
                System.setProperty(TIDIED_FOLDER_PROPERTY, folder.toString()); // there is nothing to tidy there
            }
        } catch (IOException | UnsupportedOperationException e) {
            // Slower, but it works without.
        }
    }

    private static boolean isReady(Path folder, String name, URL packed) throws IOException {
        Path library = folder.resolve(name);
        if (!isWhole(library, packed)) {
            UserFolders.make(folder);
            unpack(packed, Files.createTempFile(folder, "unpacking-", ""), library);
        }
        // Under sudo $HOME may be that of another user, whose code is not to be run.
        return Files.getOwner(library).getName().equals(System.getProperty("user.name"));
    }

    private static boolean isWhole(Path library, URL packed) throws IOException {
        return Files.isRegularFile(library)
                && Files.size(library) == packed.openConnection().getContentLengthLong();
    }

    /** Other processes may do the same now: each sees nothing or the whole. */
    private static void unpack(URL packed, Path fresh, Path library) throws IOException {
        try (InputStream in = packed.openStream()) {
            Files.copy(in, fresh, StandardCopyOption.REPLACE_EXISTING);
            Files.move(fresh, library, StandardCopyOption.ATOMIC_MOVE);
        } finally {
            Files.deleteIfExists(fresh);
        }
    }
}
