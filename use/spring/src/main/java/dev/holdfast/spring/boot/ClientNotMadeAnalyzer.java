package dev.holdfast.spring.boot;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Shows, instead of a stack trace, what to set when a lock client cannot be made. */
final class ClientNotMadeAnalyzer extends AbstractFailureAnalyzer<ClientNotMadeException> {
    @Override
    protected FailureAnalysis analyze(Throwable root, ClientNotMadeException cause) {
        return new FailureAnalysis(String.valueOf(cause.getMessage()), cause.action(), cause);
    }
}
