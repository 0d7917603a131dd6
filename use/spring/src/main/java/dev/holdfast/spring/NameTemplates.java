package dev.holdfast.spring;

import java.lang.reflect.Method;
import java.util.List;
import java.util.regex.Pattern;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.context.expression.BeanFactoryResolver;
import org.springframework.context.expression.MethodBasedEvaluationContext;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.ParameterNameDiscoverer;
import org.springframework.expression.EvaluationContext;

/** The names of one annotated method. */
final class NameTemplates {
    private static final ParameterNameDiscoverer PARAMETERS = new DefaultParameterNameDiscoverer();

    /** A variable of an expression that has the name of a parameter. */
    private static final Pattern NAMED = Pattern.compile("#(?!([pa]\\d+|root|this)\\b)[A-Za-z_]");

    private final List<NameTemplate> templates;
    private final @Nullable List<String> constant;
    private final Method method;
    private final BeanFactoryResolver beans;

    NameTemplates(List<String> texts, Method method, BeanFactoryResolver beans) {
        this.method = method;
        this.beans = beans;
        this.templates = texts.stream()
                .map(text -> NameTemplate.parse(text, Methods.title(method)))
                .toList();
        boolean isConstant = templates.stream().allMatch(NameTemplate::isConstant);
        boolean namesParameters =
                texts.stream().anyMatch(text -> NAMED.matcher(text).find());
        if (!isConstant && namesParameters && PARAMETERS.getParameterNames(method) == null) {
            throw new AnnotationRefusedException("the lock name '" + String.join(", ", texts) + "' at "
                    + Methods.title(method)
                    + " needs the names of the parameters: compile the class with -parameters, or"
                    + " write #p0 for the first one");
        }
        this.constant = isConstant ? evaluate((EvaluationContext) null) : null;
    }

    int size() {
        return templates.size();
    }

    /** The names, if they are the same for each call; else none. */
    List<String> constants() {
        return constant == null ? List.of() : constant;
    }

    /** The names for one call. */
    List<String> evaluate(MethodInvocation call) {
        if (constant != null) {
            return constant;
        }
        Object target = call.getThis();
        MethodBasedEvaluationContext context = new MethodBasedEvaluationContext(
                target == null ? method : target, method, call.getArguments(), PARAMETERS);
        context.setBeanResolver(beans);
        return evaluate(context);
    }

    private List<String> evaluate(@Nullable EvaluationContext context) {
        return templates.stream()
                .map(template -> template.evaluate(context))
                .distinct()
                .toList();
    }
}
