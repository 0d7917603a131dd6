package dev.holdfast.build;

import static java.util.stream.Collectors.joining;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaCodeUnit;
import com.tngtech.archunit.core.domain.JavaField;
import com.tngtech.archunit.core.domain.JavaMember;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.domain.JavaType;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * What a program that uses some classes can name, one line for each type and member: changed lines are changes that its
 * compiler, or its running code, may notice. Types in packages named {@code internal} are left out.
 */
final class PublicApi {
    private static final List<JavaModifier> SHOWN = List.of(
            JavaModifier.PUBLIC,
            JavaModifier.PROTECTED,
            JavaModifier.ABSTRACT,
            JavaModifier.STATIC,
            JavaModifier.FINAL);

    private PublicApi() {}

    /** The lines, sorted. */
    static Set<String> of(JavaClasses classes) {
        Set<String> lines = new TreeSet<>();
        for (JavaClass type : classes) {
            if (isVisible(type)) {
                lines.add(line(type));
                type.getMembers().stream()
                        .filter(member -> isVisible(type, member))
                        .map(member -> type.getName() + "." + line(member))
                        .forEach(lines::add);
            }
        }
        return lines;
    }

    private static boolean isVisible(JavaClass type) {
        return !type.getPackageName().matches(".*\\binternal\\b.*")
                && type.getModifiers().contains(JavaModifier.PUBLIC)
                && !type.getModifiers().contains(JavaModifier.SYNTHETIC)
                && type.getEnclosingClass().map(PublicApi::isVisible).orElse(true);
    }

    private static boolean isVisible(JavaClass type, JavaMember member) {
        Set<JavaModifier> modifiers = member.getModifiers();
        boolean inherited = modifiers.contains(JavaModifier.PROTECTED)
                && !type.getModifiers().contains(JavaModifier.FINAL);
        return (modifiers.contains(JavaModifier.PUBLIC) || inherited)
                && !modifiers.contains(JavaModifier.SYNTHETIC)
                && !modifiers.contains(JavaModifier.BRIDGE);
    }

    private static String line(JavaClass type) {
        String kind = type.isAnnotation()
                ? "@interface"
                : type.isInterface() ? "interface" : type.isEnum() ? "enum" : type.isRecord() ? "record" : "class";
        String above = Stream.concat(type.getSuperclass().stream(), type.getInterfaces().stream())
                .map(JavaType::getName)
                .filter(name -> !name.equals("java.lang.Object"))
                .sorted()
                .collect(joining(", "));
        return type.getName() + ": " + modifiers(type.getModifiers()) + kind
                + typeParameters(type.getTypeParameters()).strip() + (above.isEmpty() ? "" : " of " + above);
    }

    private static String line(JavaMember member) {
        if (member instanceof JavaField field) {
            return field.getName() + ": " + modifiers(field.getModifiers())
                    + field.getType().getName();
        }
        JavaCodeUnit code = (JavaCodeUnit) member;
        String thrown = code.getThrowsClause().getTypes().stream()
                .map(JavaType::getName)
                .sorted()
                .collect(joining(", "));
        return code.getName() + names(code.getParameterTypes()) + ": " + modifiers(code.getModifiers())
                + typeParameters(code.getTypeParameters())
                + code.getReturnType().getName()
                + (thrown.isEmpty() ? "" : " throws " + thrown);
    }

    private static String names(List<? extends JavaType> types) {
        return types.stream().map(JavaType::getName).collect(joining(", ", "(", ")"));
    }

    private static String typeParameters(List<? extends JavaType> parameters) {
        return parameters.isEmpty()
                ? ""
                : parameters.stream().map(JavaType::getName).collect(joining(", ", "<", "> "));
    }

    private static String modifiers(Set<JavaModifier> modifiers) {
        return SHOWN.stream()
                .filter(modifiers::contains)
                .map(modifier -> modifier.name().toLowerCase(Locale.ROOT) + " ")
                .collect(joining());
    }
}
