package dev.holdfast.spring;

import dev.holdfast.Term;
import java.lang.reflect.Method;
import org.jspecify.annotations.Nullable;

/**
 * What {@link LeaderOnly} says of one method.
 *
 * @param method that
 * @param election name and client
 * @param termParameter where the term goes, or -1
 */
record LeaderMethod(Method method, Leaderships.Election election, int termParameter) {
    private static final String ANNOTATION = "LeaderOnly";
    private static final String WHY =
            "when this application may no longer lead; wait for it in the method, or call the method where the work begins";

    /**
     * Reads the annotation.
     *
     * @throws IllegalStateException if what it says cannot be
     */
    static LeaderMethod read(Class<?> bean, Method method, LeaderOnly said, Texts texts) {
        SuspendingFunctions.refuse(method, ANNOTATION);
        Methods.checkSkippable(method, ANNOTATION);
        String name = texts.resolve(said.value());
        if (name.isEmpty()) {
            throw Methods.refused(method, ANNOTATION, "has an empty name; set the name of the election");
        }
        Methods.checkConstant(method, ANNOTATION, name, "write a method for each election");
        Methods.checkFinished(bean, method, ANNOTATION, "whose work goes on later, " + WHY);
        return new LeaderMethod(
                method,
                new Leaderships.Election(name, texts.resolve(said.client())),
                Methods.parameterOf(method, Term.class));
    }

    /**
     * Refuses a value whose work is not over.
     *
     * @throws IllegalStateException if the value is such
     */
    void checkFinished(@Nullable Object value) {
        Methods.checkFinished(method, ANNOTATION, value, WHY);
    }
}
