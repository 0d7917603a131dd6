package dev.holdfast.build;

import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.util.DocTrees;
import com.sun.source.util.JavacTask;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/** A parsed Java file. Parsed and no more: what a rule reads off it is what stands there, not what it means. */
record Source(CompilationUnitTree tree, DocTrees docs) {
    private static final JavaCompiler JAVAC = ToolProvider.getSystemJavaCompiler();

    /** Parses files. */
    static List<Source> parse(List<Path> files) {
        if (files.isEmpty()) {
            return List.of();
        }
        StandardJavaFileManager manager = JAVAC.getStandardFileManager(null, null, null);
        return parse(manager, manager.getJavaFileObjectsFromPaths(files));
    }

    /** Parses a text, for trying a rule out. */
    static Source parse(String text) {
        JavaFileObject file = new SimpleJavaFileObject(URI.create("mem:///Sample.java"), JavaFileObject.Kind.SOURCE) {
            @Override
            public CharSequence getCharContent(boolean ignoreEncodingErrors) {
                return text;
            }
        };
        return parse(JAVAC.getStandardFileManager(null, null, null), List.of(file))
                .get(0);
    }

    private static List<Source> parse(StandardJavaFileManager manager, Iterable<? extends JavaFileObject> files) {
        JavacTask task =
                (JavacTask) JAVAC.getTask(null, manager, null, List.of("-proc:none", "--release", "17"), null, files);
        DocTrees docs = DocTrees.instance(task);
        try {
            List<Source> sources = new ArrayList<>();
            task.parse().forEach(unit -> sources.add(new Source(unit, docs)));
            return sources;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Its package, empty for none. */
    String packageName() {
        return tree.getPackageName() == null ? "" : tree.getPackageName().toString();
    }

    /** {@code File.java:12} for a place in it. */
    String place(com.sun.source.tree.Tree at) {
        long start = docs.getSourcePositions().getStartPosition(tree, at);
        String path = tree.getSourceFile().getName();
        return path.substring(path.lastIndexOf('/') + 1) + ":"
                + tree.getLineMap().getLineNumber(start);
    }
}
