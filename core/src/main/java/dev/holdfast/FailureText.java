package dev.holdfast;

/** What a failure of the application's own code says of itself: reading that may fail too. */
final class FailureText {
    private FailureText() {}

    /** Its text; the name of its class if there is none to be had. */
    static String of(Throwable failure) {
        try {
            String text = failure.toString();
            if (text != null) {
                return text;
            }
        } catch (Throwable unreadable) {
            // also an Error: what follows the failure must be done
        }
        return failure.getClass().getName();
    }
}
