package dev.holdfast.docs;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayDeque;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.commonmark.Extension;
import org.commonmark.ext.gfm.tables.TablesExtension;
import org.commonmark.node.AbstractVisitor;
import org.commonmark.node.Code;
import org.commonmark.node.Heading;
import org.commonmark.node.Image;
import org.commonmark.node.Link;
import org.commonmark.node.Node;
import org.commonmark.node.Text;
import org.commonmark.parser.Parser;
import org.commonmark.renderer.html.HtmlRenderer;

/**
 * The site: every Markdown page of the repository as HTML, and each file that a page links to. Sources are shown as they
 * are, and a folder as a list of what is in it, so that the site needs nothing outside itself.
 */
final class Site {
    private static final List<Extension> EXTENSIONS = List.of(TablesExtension.create());
    private static final Set<String> AS_THEY_ARE = Set.of("svg", "png", "gif", "json", "html");
    /** A link of an HTML file; after a blank: ":href" is an attribute that a script of the page computes. */
    static final Pattern LINK = Pattern.compile("(?<=\\s)(href|src)=\"(?![a-z]+:)([^\"]*)\"");

    private static final String FRAME = """
            <!DOCTYPE html>
            <html lang="%s">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <title>%s</title>
            <style>
            body { max-width: 60em; margin: 0 auto; padding: 0 1em 4em; font: 16px/1.5 system-ui, sans-serif; color: #222 }
            nav { padding: 1em 0; border-bottom: 1px solid #ccc } nav a { margin-right: 1.5em }
            table { border-collapse: collapse; display: block; overflow-x: auto }
            th, td { border: 1px solid #ccc; padding: .3em .6em; text-align: left; vertical-align: top }
            code, pre { font: 14px/1.4 ui-monospace, monospace; background: #f4f4f4 }
            pre { padding: .8em; overflow-x: auto } img { max-width: 100%% } a { color: #0645ad }
            </style>
            </head>
            <body>
            <nav>%s</nav>
            %s</body>
            </html>
            """;

    private final Path root;
    private final Path out;
    private final Parser parser = Parser.builder().extensions(EXTENSIONS).build();
    /** Files and folders that are written already, or wait for it. */
    private final Set<Path> known = new HashSet<>();

    private final Queue<Path> waiting = new ArrayDeque<>();

    Site(Path root, Path out) {
        this.root = root;
        this.out = out;
    }

    /** Writes the pages, and then whatever they link to. */
    void write(List<Path> pages) throws IOException {
        pages.forEach(page -> want(page.normalize()));
        while (!waiting.isEmpty()) {
            Path source = waiting.remove();
            Path target = out.resolve(placeOf(source));
            Files.createDirectories(target.getParent());
            if (ending(source).equals("html")) {
                Files.writeString(target, followed(source, LINK.matcher(Files.readString(source))));
            } else if (AS_THEY_ARE.contains(ending(source))) {
                Files.copy(source, target, StandardCopyOption.REPLACE_EXISTING);
            } else {
                Files.writeString(target, framed(source, body(source)));
            }
        }
    }

    private void want(Path source) {
        if (known.add(source)) {
            waiting.add(source);
        }
    }

    private String body(Path source) throws IOException {
        if (Files.isDirectory(source)) {
            try (Stream<Path> files = Files.list(source)) {
                return files.sorted()
                        .peek(this::want)
                        .map(file -> "<li><a href=\"%s\">%s</a></li>\n".formatted(way(source, file), titleOf(file)))
                        .collect(Collectors.joining("", "<h1>" + root.relativize(source) + "</h1>\n<ul>\n", "</ul>\n"));
            }
        }
        String text = Files.readString(source);
        return isPage(source) ? html(source, text) : "<pre>" + escaped(text) + "</pre>\n";
    }

    private String html(Path source, String text) {
        Node page = parser.parse(text);
        return HtmlRenderer.builder()
                .extensions(EXTENSIONS)
                .attributeProviderFactory(context -> (node, tag, attributes) -> attributesOf(source, node, attributes))
                .build()
                .render(page);
    }

    private void attributesOf(Path source, Node node, Map<String, String> attributes) {
        if (node instanceof Heading) {
            attributes.put("id", PagesTest.anchor(textOf(node)));
        } else if (node instanceof Link link && isInside(link.getDestination())) {
            attributes.put("href", followed(source, link.getDestination()));
        } else if (node instanceof Image image && isInside(image.getDestination())) {
            attributes.put("src", followed(source, image.getDestination()));
        }
    }

    private String followed(Path source, Matcher links) {
        return links.replaceAll(link ->
                Matcher.quoteReplacement("%s=\"%s\"".formatted(link.group(1), followed(source, link.group(2)))));
    }

    /** Where the link leads on the site; what it leads to becomes part of the site. */
    private String followed(Path source, String link) {
        int anchor = link.indexOf('#');
        String file = anchor < 0 ? link : link.substring(0, anchor);
        if (file.isEmpty()) {
            return link;
        }
        Path target = source.resolveSibling(file).normalize();
        if (Files.isDirectory(target) && Files.exists(target.resolve("README.md"))) {
            target = target.resolve("README.md");
        }
        want(target);
        return way(source, target) + (anchor < 0 ? "" : link.substring(anchor));
    }

    private String framed(Path source, String body) {
        String language = source.toString().endsWith(".zh-CN.md") ? "zh-CN" : "en";
        String links = Stream.of("README.md", "docs/quick-start.md", "docs/README.md", "README.zh-CN.md")
                .map(root::resolve)
                .peek(this::want)
                .map(page -> "<a href=\"%s\">%s</a>".formatted(way(source, page), titleOf(page)))
                .collect(Collectors.joining());
        return FRAME.formatted(language, titleOf(source), links, body);
    }

    /** The first heading of a page, the name of any other file. */
    private String titleOf(Path source) {
        if (!isPage(source)) {
            return escaped(source.getFileName().toString());
        }
        try (Stream<String> lines = Files.lines(source)) {
            return escaped(lines.filter(line -> line.startsWith("# "))
                    .findFirst()
                    .map(line -> line.substring(2).replace("`", ""))
                    .orElse(source.getFileName().toString()));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private String way(Path from, Path to) {
        return placeOf(from).resolve("..").normalize().relativize(placeOf(to)).toString();
    }

    /** Relative to the site: README.md becomes index.html, a source keeps its name and gets .html behind it. */
    private Path placeOf(Path source) {
        Path place = root.relativize(source);
        String name = place.getFileName().toString();
        if (Files.isDirectory(source)) {
            return place.resolve("index.html");
        }
        if (name.equals("README.md")) {
            return place.resolveSibling("index.html");
        }
        if (AS_THEY_ARE.contains(ending(source))) {
            return place;
        }
        return place.resolveSibling((isPage(source) ? name.substring(0, name.length() - 3) : name) + ".html");
    }

    private static boolean isInside(String link) {
        return !link.matches("[a-z]+:.*");
    }

    private static boolean isPage(Path source) {
        return ending(source).equals("md");
    }

    private static String ending(Path file) {
        String name = file.getFileName().toString();
        return name.substring(name.lastIndexOf('.') + 1).toLowerCase(Locale.ROOT);
    }

    private static String escaped(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
    }

    private static String textOf(Node node) {
        StringBuilder text = new StringBuilder();
        node.accept(new AbstractVisitor() {
            @Override
            public void visit(Text part) {
                text.append(part.getLiteral());
            }

            @Override
            public void visit(Code part) {
                text.append(part.getLiteral());
            }
        });
        return text.toString();
    }
}
