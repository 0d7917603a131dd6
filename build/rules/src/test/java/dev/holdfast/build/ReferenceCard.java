package dev.holdfast.build;

import static java.util.stream.Collectors.joining;

import com.sun.source.doctree.DocCommentTree;
import com.sun.source.doctree.DocTree;
import com.sun.source.doctree.LinkTree;
import com.sun.source.doctree.LiteralTree;
import com.sun.source.doctree.ParamTree;
import com.sun.source.doctree.TextTree;
import com.sun.source.tree.AnnotationTree;
import com.sun.source.tree.ClassTree;
import com.sun.source.tree.ExpressionTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.tree.Tree;
import com.sun.source.tree.VariableTree;
import com.sun.source.util.TreePath;
import dev.holdfast.cli.CommandReference;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;

/**
 * All that a user of Holdfast may write, on one page: attributes of annotations and properties as their sources say, options
 * and exit codes as the command line itself says.
 */
final class ReferenceCard {
    private static final String TOP = """
            # Reference card

            Written by `ReferenceCardTest` from the code. Times are written as `100ms`, `2s`, `5m`, `1h`, `7d`.

            [Annotations](#annotations) · [Properties](#properties) · [Command line](#command-line) · [Exit codes](#exit-codes)

            """;
    private static final List<String> ANNOTATIONS = List.of("HoldLock", "Once", "LeaderOnly");
    private static final int SHOWN_ARGUMENTS = 1;

    private final Map<String, Type> types = new HashMap<>();

    private record Type(Source source, ClassTree tree) {}

    private ReferenceCard() {
        House.get().modules().stream()
                .filter(module -> module.name().equals("spring"))
                .flatMap(module -> Source.parse(module.sources()).stream())
                .forEach(source -> source.tree().getTypeDecls().stream()
                        .filter(ClassTree.class::isInstance)
                        .map(ClassTree.class::cast)
                        .forEach(tree -> types.put(tree.getSimpleName().toString(), new Type(source, tree))));
    }

    static String text() {
        ReferenceCard card = new ReferenceCard();
        return TOP + "## Annotations\n\n"
                + ANNOTATIONS.stream().map(card::annotation).collect(joining())
                + "## Properties\n\nOf the Spring Boot starter. `holdfast.clients.NAME.` takes the same for a client called"
                + " `NAME`.\n\n| Property | Type | Default | Meaning |\n|---|---|---|---|\n"
                + card.properties("HoldfastProperties", "holdfast.")
                + "\n## Command line\n\n"
                + CommandReference.commands().stream()
                        .map(ReferenceCard::command)
                        .collect(joining())
                + "## Exit codes\n\n| Code | Meaning |\n|---|---|\n"
                + CommandReference.exitCodes().stream().map(ReferenceCard::row).collect(joining());
    }

    // ---- annotations ----

    private String annotation(String name) {
        Type type = types.get(name);
        return "### @" + name + "\n\n" + firstSentence(type, type.tree())
                + "\n\n| Attribute | Type | Default | Meaning |\n|---|---|---|---|\n"
                + type.tree().getMembers().stream()
                        .filter(MethodTree.class::isInstance)
                        .map(MethodTree.class::cast)
                        .map(attribute -> cells(
                                code(attribute.getName().toString()),
                                code(attribute.getReturnType().toString()),
                                defaultOf(attribute),
                                text(comment(type, attribute).getFullBody())))
                        .collect(joining())
                + "\n";
    }

    private static String defaultOf(MethodTree attribute) {
        Tree value = attribute.getDefaultValue();
        if (value == null) {
            return "required";
        }
        String written = value.toString();
        boolean isNothing = written.equals("\"\"") || written.equals("{}");
        return isNothing ? "" : code(written);
    }

    // ---- properties ----

    private String properties(String record, String prefix) {
        Type type = types.get(record);
        return type.tree().getMembers().stream()
                .filter(VariableTree.class::isInstance)
                .map(VariableTree.class::cast)
                .filter(member -> parameter(type, member) != null)
                .map(component -> property(type, component, prefix))
                .collect(joining());
    }

    private String property(Type type, VariableTree component, String prefix) {
        String name = prefix + kebab(component.getName().toString());
        String written = component.getType().toString();
        if (types.containsKey(written) && types.get(written).tree().getKind() == Tree.Kind.RECORD) {
            return properties(written, name + ".");
        }
        return cells(
                code(name),
                code(written),
                initial(component),
                text(parameter(type, component).getDescription()));
    }

    private static String initial(VariableTree component) {
        return component.getModifiers().getAnnotations().stream()
                .filter(annotation -> annotation.getAnnotationType().toString().equals("DefaultValue"))
                .map(AnnotationTree::getArguments)
                .filter(arguments -> arguments.size() == SHOWN_ARGUMENTS)
                .map(arguments -> code(argument(arguments.get(0))))
                .collect(joining());
    }

    private static String argument(ExpressionTree argument) {
        return argument.toString().replaceAll("^value = ", "").replace("\"", "");
    }

    private static String kebab(String name) {
        return name.replaceAll("([A-Z])", "-$1").toLowerCase(Locale.ROOT);
    }

    private static ParamTree parameter(Type type, VariableTree component) {
        return comment(type, type.tree()).getBlockTags().stream()
                .filter(ParamTree.class::isInstance)
                .map(ParamTree.class::cast)
                .filter(tag -> tag.getName().getName().contentEquals(component.getName()))
                .findFirst()
                .orElse(null);
    }

    // ---- the command line ----

    private static String command(CommandReference.Command command) {
        return "### " + command.name() + "\n\n```sh\n" + String.join("\n", command.synopses()) + "\n```\n\n"
                + command.meaning() + "\n\n"
                + (command.options().isEmpty()
                        ? ""
                        : "| Option | Meaning |\n|---|---|\n"
                                + command.options().stream()
                                        .map(ReferenceCard::row)
                                        .collect(joining()) + "\n");
    }

    private static String row(CommandReference.Row row) {
        String written = row.written();
        return cells(written.contains(" own") ? written : code(written), cell(row.meaning()));
    }

    // ---- text ----

    private static DocCommentTree comment(Type type, Tree member) {
        return type.source()
                .docs()
                .getDocCommentTree(TreePath.getPath(type.source().tree(), member));
    }

    private static String firstSentence(Type type, Tree member) {
        return text(comment(type, member).getFirstSentence());
    }

    private static String text(List<? extends DocTree> parts) {
        return cell(parts.stream().map(ReferenceCard::text).collect(joining()))
                .replace("<code>", "`")
                .replace("</code>", "`");
    }

    private static String text(DocTree part) {
        if (part instanceof LinkTree link) {
            String signature = link.getReference().getSignature();
            return "`"
                    + signature
                            .replaceAll("^(dev\\.holdfast\\.)?#?", "")
                            .replace('#', '.')
                            .replaceAll("\\(.*\\)$", "") + "`";
        }
        if (part instanceof LiteralTree literal) {
            return "`" + literal.getBody().getBody() + "`";
        }
        return part instanceof TextTree plain ? plain.getBody() : part.toString();
    }

    private static String cell(String text) {
        return text.replaceAll("\\s+", " ").replace("|", "\\|").strip();
    }

    private static String code(String text) {
        return "`" + cell(text) + "`";
    }

    private static String cells(String... cells) {
        return Stream.of(cells).collect(joining(" | ", "| ", " |\n"));
    }
}
