package dev.holdfast.spring.boot;

import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.BindException;
import org.springframework.boot.context.properties.bind.UnboundConfigurationPropertiesException;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.core.convert.ConversionException;

/**
 * Names a property under {@code holdfast} that cannot be used, and where it is set. Spring Boot's own analyzers, which come
 * later, show its value too: a password, where its name is misspelled.
 */
@Order(Ordered.HIGHEST_PRECEDENCE)
final class PropertyAnalyzer extends AbstractFailureAnalyzer<BindException> {
    private static final ConfigurationPropertyName OURS = ConfigurationPropertyName.of("holdfast");

    @Override
    protected @Nullable FailureAnalysis analyze(Throwable root, BindException cause) {
        if (!OURS.equals(cause.getName()) && !OURS.isAncestorOf(cause.getName())) {
            return null;
        }
        if (cause.getCause() instanceof UnboundConfigurationPropertiesException unknown) {
            return new FailureAnalysis(
                    unknown.getUnboundProperties().stream()
                            .map(property -> "There is no property " + place(property) + ".")
                            .collect(Collectors.joining("\n")),
                    "Correct the name, or remove the property.",
                    cause);
        }
        ConfigurationProperty property = cause.getProperty();
        return new FailureAnalysis(
                (property == null ? cause.getName() : place(property)) + " " + reason(cause) + ".",
                "Correct the value.",
                cause);
    }

    private static String place(ConfigurationProperty property) {
        return property.getName() + (property.getOrigin() == null ? "" : " (" + property.getOrigin() + ")");
    }

    /** Without the value, which the message of a conversion contains, and that of a placeholder. */
    private static String reason(BindException cause) {
        for (Throwable each = cause; each != null; each = each.getCause()) {
            if (each instanceof ConversionException) {
                return "cannot be read as a "
                        + cause.getTarget().getType().toClass().getSimpleName();
            }
        }
        String why =
                String.valueOf(NestedExceptionUtils.getMostSpecificCause(cause).getMessage());
        return why.contains("placeholder")
                ? "has a placeholder, ${…}, that cannot be resolved"
                : "cannot be used: " + why;
    }
}
