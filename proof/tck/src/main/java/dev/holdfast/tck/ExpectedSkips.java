package dev.holdfast.tck;

import java.util.Set;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.TestExecutionExceptionHandler;
import org.opentest4j.TestAbortedException;

/** Fails a case that is skipped though its store does not expect it: what is proved must not become less unnoticed. */
final class ExpectedSkips implements TestExecutionExceptionHandler {
    @Override
    public void handleTestExecutionException(ExtensionContext context, Throwable failure) throws Throwable {
        if (failure instanceof TestAbortedException) {
            Set<String> expected = ((Cases) context.getRequiredTestInstance()).rig.contract.expectedSkips();
            String group = context.getRequiredTestClass().getSimpleName();
            String test = group + "." + context.getRequiredTestMethod().getName();
            if (!expected.contains(group) && !expected.contains(test)) {
                throw new AssertionError(
                        test + " was skipped, and expectedSkips() does not name it: " + failure.getMessage(), failure);
            }
        }
        throw failure;
    }
}
