package dev.holdfast.docs;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The contents of the site: the table of all pages by task, whose rows in bold are the groups. */
record SiteContents(Map<String, List<Entry>> groups) {
    private static final Pattern ROW = Pattern.compile("\\| (.*?) \\|(.*)\\|");
    private static final Pattern GROUP = Pattern.compile("\\*\\*(.*)\\*\\*");
    private static final Pattern LINK = Pattern.compile("\\[(.*?)]\\(([^)#]*)(#[^)]*)?\\)");

    /**
     * A page, or a part of it.
     *
     * @param anchor with its #; empty for the whole page
     */
    record Entry(String title, Path page, String anchor) {}

    static SiteContents of(Path table) throws IOException {
        Map<String, List<Entry>> groups = new LinkedHashMap<>();
        List<Entry> group = new ArrayList<>();
        for (String line : Files.readAllLines(table)) {
            Matcher row = ROW.matcher(line);
            if (!row.matches()) {
                continue;
            }
            Matcher name = GROUP.matcher(row.group(1));
            if (name.matches()) {
                group = new ArrayList<>();
                groups.put(name.group(1), group);
            }
            Matcher link = LINK.matcher(row.group(2));
            while (link.find()) {
                Path page = table.resolveSibling(link.group(2)).normalize();
                String title = Character.toUpperCase(link.group(1).charAt(0))
                        + link.group(1).substring(1);
                group.add(new Entry(title, page, link.group(3) == null ? "" : link.group(3)));
            }
        }
        return new SiteContents(groups);
    }

    /** The pages in the order in which they are listed, each once. */
    List<Path> order() {
        return groups.values().stream()
                .flatMap(List::stream)
                .map(Entry::page)
                .filter(page -> page.toString().endsWith(".md"))
                .distinct()
                .toList();
    }

    String html(Function<Entry, String> link) {
        StringBuilder html = new StringBuilder();
        groups.forEach((group, entries) -> {
            html.append("<h2>").append(group).append("</h2>\n<ul>\n");
            entries.forEach(
                    entry -> html.append("<li>").append(link.apply(entry)).append("</li>\n"));
            html.append("</ul>\n");
        });
        return html.toString();
    }
}
