package dev.holdfast.spring;

import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.convert.DurationStyle;
import org.springframework.context.expression.BeanFactoryResolver;

/** Reads what annotations say in text, with <code>${…}</code> replaced by properties. */
final class Texts {
    private final ConfigurableListableBeanFactory beans;
    private final BeanFactoryResolver resolver;

    Texts(ConfigurableListableBeanFactory beans) {
        this.beans = beans;
        this.resolver = new BeanFactoryResolver(beans);
    }

    /** Where expressions find beans. */
    BeanFactoryResolver resolver() {
        return resolver;
    }

    /** With placeholders replaced; throws {@link IllegalArgumentException} if a property is missing. */
    String resolve(String text) {
        String resolved = beans.resolveEmbeddedValue(text);
        if (resolved != null && resolved.contains("${")) { // where the application has no resolver that is strict
            throw new IllegalArgumentException("a property in '" + resolved + "' is not set");
        }
        return resolved == null ? "" : resolved.strip();
    }

    /** A time such as 2s, 500ms or PT2S; null if the text is empty. */
    @Nullable
    Duration duration(String text) {
        String resolved = resolve(text);
        return resolved.isEmpty() ? null : DurationStyle.detectAndParse(resolved);
    }
}
