package dev.holdfast.spring;

import java.lang.reflect.Method;
import java.util.List;
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
        return templates.stream().map(template -> template.evaluate(context)).toList();
    }
}
