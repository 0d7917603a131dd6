package dev.holdfast.spring;

import dev.holdfast.Term;
import java.lang.reflect.Method;

/**
 * What {@link LeaderOnly} says of one method.
 *
 * @param method that
 * @param election name and client
 * @param termParameter where the term goes, or -1
 */
record LeaderMethod(Method method, Leaderships.Election election, int termParameter) {
    private static final String ANNOTATION = "LeaderOnly";

    /**
     * Reads the annotation.
     *
     * @throws IllegalStateException if what it says cannot be
     */
    static LeaderMethod read(Method method, LeaderOnly said, Texts texts) {
        SuspendingFunctions.refuse(method, ANNOTATION);
        Methods.checkSkippable(method, ANNOTATION);
        String name = texts.resolve(said.value());
        if (name.isEmpty()) {
            throw Methods.refused(method, ANNOTATION, "has an empty name; set the name of the election");
        }
        Methods.checkConstant(method, ANNOTATION, name, "write a method for each election");
        Class<?> type = method.getReturnType();
        if (Methods.isPublisher(type)) {
            throw Methods.refused(
                    method,
                    ANNOTATION,
                    "returns a " + type.getSimpleName()
                            + ", whose work begins later, when this application may lead no longer; call the method from"
                            + " where it is subscribed to");
        }
        return new LeaderMethod(
                method,
                new Leaderships.Election(name, texts.resolve(said.client())),
                Methods.parameterOf(method, Term.class));
    }
}
