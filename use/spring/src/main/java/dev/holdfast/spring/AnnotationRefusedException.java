package dev.holdfast.spring;

import org.jspecify.annotations.Nullable;

/** An annotation that cannot do what it says; the message says where it is and what to write instead. */
final class AnnotationRefusedException extends IllegalStateException {
    private static final long serialVersionUID = 1L;

    AnnotationRefusedException(String message) {
        this(message, null);
    }

    AnnotationRefusedException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
