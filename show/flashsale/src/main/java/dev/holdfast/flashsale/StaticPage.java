package dev.holdfast.flashsale;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A recorded run as one file that needs no server: the page with all that it loads, and the recording. */
final class StaticPage {
    private static final Pattern STYLE = Pattern.compile("<link rel=\"stylesheet\" href=\"([^\"]+)\">");
    private static final Pattern SCRIPT = Pattern.compile("<script (defer )?src=\"([^\"]+)\"></script>\\n?");

    /** What needs the servers: the form, the buttons, the links to other pages. */
    private static final Pattern LIVE = Pattern.compile("\\s*<!-- live -->.*?<!-- /live -->", Pattern.DOTALL);

    private StaticPage() {}

    /** The page of a recording, which is JSON. */
    static String of(String recording) {
        String page = STYLE.matcher(LIVE.matcher(read("page/index.html")).replaceAll(""))
                .replaceAll(style -> Matcher.quoteReplacement("<style>\n" + file(style.group(1)) + "</style>"));
        StringBuilder scripts = new StringBuilder("<script>const recorded = ")
                .append(recording.replace("<", "\\u003c"))
                .append(";</script>\n");
        SCRIPT.matcher(page)
                .results()
                .forEach(script -> scripts.append("<script>\n")
                        .append(file(script.group(2)))
                        .append("</script>\n"));
        return SCRIPT.matcher(page).replaceAll("").replace("</body>", scripts + "</body>");
    }

    private static String file(String path) {
        if (path.equals(GuardCode.SCRIPT)) {
            return GuardCode.script();
        }
        return read(path.startsWith("webjars/") ? "META-INF/resources/" + path : "page/" + path);
    }

    private static String read(String resource) {
        try (InputStream in = StaticPage.class.getClassLoader().getResourceAsStream(resource)) {
            return new String(Objects.requireNonNull(in, resource).readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read " + resource, e);
        }
    }
}
