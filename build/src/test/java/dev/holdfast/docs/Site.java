package dev.holdfast.docs;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.InputStream;
import java.io.StringReader;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
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
import org.commonmark.node.CustomNode;
import org.commonmark.node.FencedCodeBlock;
import org.commonmark.node.Heading;
import org.commonmark.node.HtmlBlock;
import org.commonmark.node.Image;
import org.commonmark.node.Link;
import org.commonmark.node.Node;
import org.commonmark.node.SoftLineBreak;
import org.commonmark.node.Text;
import org.commonmark.parser.Parser;
import org.commonmark.renderer.html.HtmlRenderer;

/**
 * The site: every Markdown page of the repository as HTML, and each file that a page links to. Sources are shown as they
 * are, and a folder as a list of what is in it, so that the site needs nothing outside itself.
 */
final class Site {
    private static final List<Extension> EXTENSIONS = List.of(TablesExtension.create());
    private static final Pattern PLACE = Pattern.compile("\\{\\{(\\w+)}}");
    private static final int DEEPEST = 3;
    private static final int LEAST_LISTED = 3;
    private static final Set<String> AS_THEY_ARE = Set.of("svg", "png", "gif", "json", "html");
    /** A link of an HTML file; after a blank: ":href" is an attribute that a script of the page computes. */
    static final Pattern LINK = Pattern.compile("(?<=\\s)(href|src)=\"(?![a-z]+:)([^\"]*)\"");

    /** Written beside the pages: looks and behaviour, from here, and what searches and what colours code, from libraries. */
    private static final Map<String, String> PARTS = Map.of(
            "site.css", "/site/site.css",
            "site.js", "/site/site.js",
            "theme.js", "/site/theme.js",
            "lunr.min.js", webJar("org.webjars.npm", "lunr") + "lunr.min.js",
            "highlight.min.js", webJar("org.webjars", "highlightjs") + "highlight.min.js");

    private final Path root;
    private final Path out;
    private final Parser parser = Parser.builder().extensions(EXTENSIONS).build();
    /** Files and folders that are written already, or wait for it. */
    private final Set<Path> known = new HashSet<>();

    private final Queue<Path> waiting = new ArrayDeque<>();
    private final SiteContents contents;
    private final String frame = resource("/site/frame.html");
    private final String version;
    /** Whose Javadoc is there. */
    private final List<String> modules;

    /** What is searched. */
    private final List<Section> sections = new ArrayList<>();

    /**
     * The part of a page below one heading.
     *
     * @param level of the heading: 1 for that of the page
     * @param at where it is, relative to the site
     */
    private record Section(int level, String page, String heading, String at, StringBuilder text) {
        String anchor() {
            return at.substring(at.indexOf('#') + 1);
        }

        String json() {
            return "{page:%s,heading:%s,at:%s,text:%s}"
                    .formatted(quoted(page), quoted(heading), quoted(at), quoted(text));
        }

        private static String quoted(CharSequence text) {
            return '"'
                    + text.toString()
                            .replace("\\", "\\\\")
                            .replace("\"", "\\\"")
                            .replace("\n", " ")
                    + '"';
        }
    }

    Site(Path root, Path out) throws IOException {
        this.root = root;
        this.out = out;
        this.modules = modulesIn(out.resolve("api"));
        this.contents = SiteContents.of(root.resolve("docs/README.md"));
        this.version =
                Files.readString(root.resolve("pom.xml")).replaceFirst("(?s).*?<version>(.*?)</version>.*", "$1");
    }

    private static List<String> modulesIn(Path javadoc) throws IOException {
        if (!Files.isDirectory(javadoc)) {
            return List.of();
        }
        try (Stream<Path> modules = Files.list(javadoc)) {
            return modules.map(module -> module.getFileName().toString())
                    .sorted()
                    .toList();
        }
    }

    /** The folder of a library's files, which is named after its version. */
    private static String webJar(String group, String name) {
        Properties made = new Properties();
        try {
            made.load(new StringReader(resource("/META-INF/maven/" + group + "/" + name + "/pom.properties")));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return "/META-INF/resources/webjars/" + name + "/" + made.getProperty("version") + "/";
    }

    private static String resource(String name) {
        try (InputStream in = Site.class.getResourceAsStream(name)) {
            return new String(Objects.requireNonNull(in, name).readAllBytes(), UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Writes the pages, and then whatever they link to. */
    void write(List<Path> pages) throws IOException {
        for (Map.Entry<String, String> part : PARTS.entrySet()) {
            Path target = Files.createDirectories(out.resolve("site")).resolve(part.getKey());
            Files.writeString(target, resource(part.getValue()));
        }
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
                int before = sections.size();
                String body = body(source);
                Files.writeString(target, framed(source, body, sections.subList(before, sections.size())));
            }
        }
        Files.writeString(
                out.resolve("site/texts.js"),
                sections.stream().map(Section::json).collect(Collectors.joining(",\n", "const texts = [\n", "];\n")));
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
        collect(source, page);
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

    /** The sections of a page, down to those of the third level. */
    private void collect(Path source, Node page) {
        Section last = null;
        for (Node block = page.getFirstChild(); block != null; block = block.getNext()) {
            if (block instanceof Heading heading && heading.getLevel() <= DEEPEST) {
                String title = textOf(heading);
                last = new Section(
                        heading.getLevel(),
                        last == null ? title : last.page,
                        title,
                        placeOf(source) + "#" + PagesTest.anchor(title),
                        new StringBuilder());
                sections.add(last);
            } else if (last != null && !(block instanceof HtmlBlock)) {
                last.text.append(textOf(block)).append(' ');
            }
        }
    }

    private String framed(Path source, String body, List<Section> here) {
        List<Path> order = contents.order();
        int at = order.indexOf(source);
        String up = "../".repeat(placeOf(source).getNameCount() - 1);
        Map<String, String> parts = Map.of(
                "language",
                source.toString().endsWith(".zh-CN.md") ? "zh-CN" : "en",
                "title",
                titleOf(source),
                "version",
                version,
                "root",
                up,
                "contents",
                contents.html(entry -> link(source, entry.page(), entry.anchor(), entry.title())) + javadoc(up),
                "here",
                listOf(here),
                "around",
                (at > 0 ? beside(source, order.get(at - 1), "prev") : "")
                        + (at >= 0 && at + 1 < order.size() ? beside(source, order.get(at + 1), "next") : ""),
                "body",
                body);
        return PLACE.matcher(frame).replaceAll(place -> Matcher.quoteReplacement(parts.get(place.group(1))));
    }

    /** The headings of a page with several. */
    private static String listOf(List<Section> here) {
        if (here.size() < LEAST_LISTED) {
            return "";
        }
        return here.stream()
                .filter(section -> section.level > 1)
                .map(section -> "<li class=\"h%d\"><a href=\"#%s\">%s</a></li>\n"
                        .formatted(section.level, section.anchor(), escaped(section.heading)))
                .collect(Collectors.joining("", "<h2>On this page</h2>\n<ul>\n", "</ul>\n"));
    }

    /** Links to what is in the folder "api" already: the Javadoc of each module. */
    private String javadoc(String up) {
        if (modules.isEmpty()) {
            return "";
        }
        return modules.stream()
                .map(module -> "<li><a href=\"%sapi/%s/index.html\">%s</a></li>\n".formatted(up, module, module))
                .collect(Collectors.joining("", "<h2>Javadoc</h2>\n<ul>\n", "</ul>\n"));
    }

    private String beside(Path source, Path page, String relation) {
        String title = relation.equals("prev") ? "← " + titleOf(page) : titleOf(page) + " →";
        return "<a rel=\"%s\" href=\"%s\">%s</a>".formatted(relation, way(source, page), title);
    }

    private String link(Path source, Path page, String anchor, String title) {
        want(page);
        String current = page.equals(source) && anchor.isEmpty() ? " aria-current=\"page\"" : "";
        return "<a href=\"%s%s\"%s>%s</a>".formatted(way(source, page), anchor, current, escaped(title));
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

            @Override
            public void visit(FencedCodeBlock part) {
                text.append(part.getLiteral());
            }

            @Override
            public void visit(SoftLineBreak part) {
                text.append(' ');
            }

            @Override
            public void visit(CustomNode part) { // a cell of a table is a word of its own
                super.visit(part);
                text.append(' ');
            }
        });
        return text.toString();
    }
}
