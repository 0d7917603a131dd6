package dev.holdfast.spring;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Shows, instead of a stack trace, which annotation stopped the start and why. */
final class AnnotationRefusedAnalyzer extends AbstractFailureAnalyzer<AnnotationRefusedException> {
    @Override
    protected FailureAnalysis analyze(Throwable root, AnnotationRefusedException cause) {
        return new FailureAnalysis(
                cause.getMessage() + ".", "Correct the annotation, or the properties it needs.", cause);
    }
}
