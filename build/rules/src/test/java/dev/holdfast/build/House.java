package dev.holdfast.build;

import com.tngtech.archunit.ArchConfiguration;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;
import org.xml.sax.SAXException;

/** The whole build as the rules see it: the modules the root pom names, and the classes of their main code. */
final class House {
    private static final House INSTANCE = new House();

    private final Path root;
    private final List<Module> modules;
    private final Map<Module, JavaClasses> classes = new LinkedHashMap<>();
    private final Map<String, Module> homes = new HashMap<>();

    private House() {
        Path ownClasses = locationOf(House.class);
        Path ownFolder = Path.of("").toAbsolutePath();
        // build/rules/target/test-classes, or build/rules/target/quick/test-classes: the other modules' classes lie
        // alike
        Path output = ownFolder.relativize(ownClasses.getParent()).resolve("classes");
        root = ownFolder.getParent().getParent();
        modules = texts(root.resolve("pom.xml"), "module").stream()
                .map(root::resolve)
                .filter(folder -> !folder.equals(ownFolder))
                .filter(folder -> Files.isDirectory(folder.resolve("src"))) // not the list of versions
                .map(folder -> new Module(folder, folder.resolve(output)))
                .toList();
    }

    /** Reads all classes, once; the libraries that they use stay names, as reading those takes most of the time. */
    private void read() {
        if (classes.isEmpty()) {
            ArchConfiguration.withThreadLocalScope(configuration -> {
                configuration.setResolveMissingDependenciesFromClassPath(false);
                for (Module module : modules) {
                    JavaClasses imported = new ClassFileImporter().importPath(module.classes());
                    classes.put(module, imported);
                    imported.forEach(type -> homes.put(type.getName(), module));
                }
            });
        }
    }

    static House get() {
        return INSTANCE;
    }

    /** Every module with code but this one. */
    List<Module> modules() {
        return modules;
    }

    /** The modules whose code must keep the engine's rules: core and the stores. */
    List<Module> engineAndStores() {
        return modules.stream()
                .filter(module -> module.name().equals("core") || module.isStore())
                .toList();
    }

    /** The classes of a module's main code. */
    JavaClasses classesOf(Module module) {
        read();
        return classes.get(module);
    }

    /** The module a class belongs to; none for the JDK and libraries. */
    Optional<Module> homeOf(JavaClass type) {
        read();
        return Optional.ofNullable(homes.get(type.getBaseComponentType().getName()));
    }

    /** The module of that artifact, {@code holdfast-jdbc} for {@code stores/jdbc}, as its pom says. */
    Optional<Module> moduleOfArtifact(String artifact) {
        return modules.stream()
                .filter(module -> texts(module.folder().resolve("pom.xml"), "artifactId")
                        .subList(0, 2) // the parent's and its own
                        .contains(artifact))
                .findFirst();
    }

    /** The {@code dependency} elements of a module's pom. */
    List<Element> dependencies(Module module) {
        return elements(module.folder().resolve("pom.xml"), "dependency");
    }

    /** The text of a child element, or nothing. */
    static Optional<String> child(Element element, String name) {
        NodeList found = element.getElementsByTagName(name);
        return found.getLength() == 0
                ? Optional.empty()
                : Optional.of(found.item(0).getTextContent().strip());
    }

    private static List<String> texts(Path pom, String name) {
        return elements(pom, name).stream()
                .map(element -> element.getTextContent().strip())
                .toList();
    }

    private static List<Element> elements(Path pom, String name) {
        try {
            Document document =
                    DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(pom.toFile());
            NodeList found = document.getElementsByTagName(name);
            return java.util.stream.IntStream.range(0, found.getLength())
                    .mapToObj(i -> (Element) found.item(i))
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (ParserConfigurationException | SAXException e) {
            throw new IllegalStateException("cannot read " + pom, e);
        }
    }

    private static Path locationOf(Class<?> type) {
        try {
            Path location = Path.of(
                    type.getProtectionDomain().getCodeSource().getLocation().toURI());
            if (!Files.isDirectory(location)) {
                throw new IllegalStateException("the rules run from folders of classes, not from " + location);
            }
            return location;
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }
}
