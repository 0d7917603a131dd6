package dev.holdfast.spring;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.expression.EvaluationContext;
import org.springframework.expression.EvaluationException;
import org.springframework.expression.Expression;
import org.springframework.expression.ParseException;
import org.springframework.expression.ParserContext;
import org.springframework.expression.common.CompositeStringExpression;
import org.springframework.expression.common.LiteralExpression;
import org.springframework.expression.spel.standard.SpelExpressionParser;

/**
 * The text of a lock's name with expressions in it: <code>order:#{#order.id}</code>. Parsed once; every expression must
 * result in some text. Different values make different names: where one text has several expressions, a value that
 * contains the character behind its expression gets a backslash before that.
 */
final class NameTemplate {
    private static final SpelExpressionParser PARSER = new SpelExpressionParser();

    private final String text;
    private final String place;
    private final List<Expression> parts;

    private NameTemplate(String text, String place, List<Expression> parts) {
        this.text = text;
        this.place = place;
        this.parts = parts;
    }

    /**
     * Parses a template.
     *
     * @param text with placeholders replaced already
     * @param place where it is written, for messages
     * @throws IllegalArgumentException if it is no template
     */
    static NameTemplate parse(String text, String place) {
        if (text.isBlank()) {
            throw new IllegalArgumentException("the lock name at " + place + " is empty");
        }
        try {
            Expression whole = PARSER.parseExpression(text, ParserContext.TEMPLATE_EXPRESSION);
            List<Expression> parts = whole instanceof CompositeStringExpression composite
                    ? List.of(composite.getExpressions())
                    : List.of(whole);
            for (int i = 1; i < parts.size(); i++) {
                if (!isLiteral(parts.get(i - 1)) && !isLiteral(parts.get(i))) {
                    throw new IllegalArgumentException("in the lock name '" + text + "' at " + place + ", #{"
                            + parts.get(i).getExpressionString()
                            + "} follows another expression directly, so different values would make the same name; put"
                            + " a character between them, such as a colon");
                }
            }
            return new NameTemplate(text, place, parts);
        } catch (ParseException wrong) {
            throw new IllegalArgumentException(
                    "the lock name '" + text + "' at " + place + " cannot be parsed: " + wrong.getMessage(), wrong);
        }
    }

    /** Whether it is the same for every call. */
    boolean isConstant() {
        return parts.stream().allMatch(NameTemplate::isLiteral);
    }

    private static boolean isLiteral(Expression part) {
        return part instanceof LiteralExpression;
    }

    /** A text that ends at the first separator without a backslash before it, whatever follows. */
    static String escaped(String text, char separator) {
        String mark = separator == '\\' ? "%" : "\\";
        return text.replace(mark, mark + mark).replace(String.valueOf(separator), mark + separator);
    }

    /**
     * The name for one call.
     *
     * @param context null for a constant
     * @throws IllegalArgumentException if an expression fails, or results in null or in no text
     */
    String evaluate(@Nullable EvaluationContext context) {
        if (context == null) {
            return text;
        }
        if (parts.size() == 1) {
            return value(parts.get(0), context);
        }
        StringBuilder name = new StringBuilder();
        for (int i = 0; i < parts.size(); i++) {
            String value = value(parts.get(i), context);
            boolean anotherFollows = !isLiteral(parts.get(i)) && i + 2 < parts.size();
            name.append(
                    anotherFollows
                            ? escaped(
                                    value,
                                    parts.get(i + 1).getExpressionString().charAt(0))
                            : value);
        }
        return name.toString();
    }

    private String value(Expression part, EvaluationContext context) {
        if (part instanceof LiteralExpression literal) {
            return literal.getExpressionString();
        }
        String value;
        try {
            value = part.getValue(context, String.class);
        } catch (EvaluationException failed) {
            throw new IllegalArgumentException(
                    "the lock name '" + text + "' at " + place + " cannot be evaluated: " + failed.getMessage(),
                    failed);
        }
        if (value == null || value.isBlank()) {
            throw new IllegalArgumentException("in the lock name '" + text + "' at " + place + ", #{"
                    + part.getExpressionString() + "} is " + (value == null ? "null" : "empty")
                    + ": no lock was acquired and the method did not run");
        }
        return value;
    }
}
