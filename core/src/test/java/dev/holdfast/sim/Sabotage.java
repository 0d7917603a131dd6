package dev.holdfast.sim;

import dev.holdfast.LockClient;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.StringWriter;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import javax.tools.ForwardingJavaFileManager;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileManager;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import org.jspecify.annotations.NullMarked;

/**
 * Runs the simulation over an engine with a {@link Defect}: compiles the changed source into memory, and loads it
 * together with a fresh copy of everything else of ours. Production code knows nothing of it.
 */
final class Sabotage {
    private static final String OURS = "dev.holdfast.";
    private static final Path SOURCES = Path.of(System.getProperty("basedir", ""), "src/main/java/dev/holdfast");

    private Sabotage() {}

    /** The first of so many seeds that breaks a rule, and the rule; empty when none does. */
    static String search(Defect defect, long firstSeed, long schedules)
            throws IOException, ReflectiveOperationException {
        return (String) engineWith(Map.of(defect.type, defect.in(source(defect.type))))
                .loadClass(Simulation.class.getName())
                .getMethod("search", long.class, long.class)
                .invoke(null, firstSeed, schedules);
    }

    /** Everything of ours, loaded anew over an engine of which some sources are others, by their types. */
    static ClassLoader engineWith(Map<String, String> sources) throws IOException {
        return new Loader(compile(sources));
    }

    static String source(String type) throws IOException {
        return Files.readString(SOURCES.resolve(type + ".java"));
    }

    private static Map<String, byte[]> compile(Map<String, String> sources) throws IOException {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        String classPath = placeOf(LockClient.class) + File.pathSeparator + placeOf(NullMarked.class);
        StringWriter said = new StringWriter();
        Map<String, ByteArrayOutputStream> written = new HashMap<>();
        try (JavaFileManager files = inMemory(compiler.getStandardFileManager(null, null, null), written)) {
            boolean good = compiler.getTask(
                            said,
                            files,
                            null,
                            List.of("-proc:none", "-nowarn", "-implicit:none", "-cp", classPath),
                            null,
                            sources.entrySet().stream()
                                    .map(each -> sourceFile(each.getKey(), each.getValue()))
                                    .toList())
                    .call();
            if (!good) {
                throw new IllegalStateException(sources.keySet() + " do not compile: " + said);
            }
        }
        Map<String, byte[]> classes = new HashMap<>();
        written.forEach((name, bytes) -> classes.put(name, bytes.toByteArray()));
        return classes;
    }

    private static String placeOf(Class<?> type) {
        try {
            return Path.of(type.getProtectionDomain()
                            .getCodeSource()
                            .getLocation()
                            .toURI())
                    .toString();
        } catch (URISyntaxException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    private static JavaFileObject sourceFile(String type, String source) {
        return new SimpleJavaFileObject(
                URI.create("string:///dev/holdfast/" + type + ".java"), JavaFileObject.Kind.SOURCE) {
            @Override
            public CharSequence getCharContent(boolean ignoreEncodingErrors) {
                return source;
            }
        };
    }

    private static JavaFileManager inMemory(JavaFileManager usual, Map<String, ByteArrayOutputStream> written) {
        return new ForwardingJavaFileManager<>(usual) {
            @Override
            public JavaFileObject getJavaFileForOutput(
                    Location location, String name, JavaFileObject.Kind kind, javax.tools.FileObject sibling) {
                return new SimpleJavaFileObject(URI.create("mem:///" + name.replace('.', '/') + ".class"), kind) {
                    @Override
                    public OutputStream openOutputStream() {
                        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
                        written.put(name, bytes);
                        return bytes;
                    }
                };
            }
        };
    }

    /** Loads whatever is ours anew, the changed classes as changed. */
    private static final class Loader extends ClassLoader {
        private final Map<String, byte[]> changed;

        Loader(Map<String, byte[]> changed) {
            super(Sabotage.class.getClassLoader());
            this.changed = changed;
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (!name.startsWith(OURS)) {
                return super.loadClass(name, resolve);
            }
            synchronized (getClassLoadingLock(name)) {
                Class<?> loaded = findLoadedClass(name);
                return loaded != null ? loaded : define(name);
            }
        }

        private Class<?> define(String name) throws ClassNotFoundException {
            byte[] code = changed.containsKey(name) ? changed.get(name) : usual(name);
            return defineClass(name, code, 0, code.length);
        }

        private byte[] usual(String name) throws ClassNotFoundException {
            try (InputStream code = getParent().getResourceAsStream(name.replace('.', '/') + ".class")) {
                if (code == null) {
                    throw new ClassNotFoundException(name);
                }
                return code.readAllBytes();
            } catch (IOException unreadable) {
                throw new ClassNotFoundException(name, unreadable);
            }
        }
    }
}
