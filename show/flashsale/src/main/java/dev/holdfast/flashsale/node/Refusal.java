package dev.holdfast.flashsale.node;

import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.web.ErrorResponseException;

/** Answers a request with a problem as RFC 9457 has it. */
final class Refusal extends ErrorResponseException {
    Refusal(HttpStatus status, String detail) {
        super(status, ProblemDetail.forStatusAndDetail(status, detail), null);
    }

    /** A store that did not do what it was asked for. */
    static Refusal ofStore(String detail, Exception failure) {
        return new Refusal(HttpStatus.SERVICE_UNAVAILABLE, detail + " (" + failure.getMessage() + ")").retryAfter(1);
    }

    /** Says when the same request may be answered otherwise. */
    Refusal retryAfter(int seconds) {
        getHeaders().set(HttpHeaders.RETRY_AFTER, Integer.toString(seconds));
        return this;
    }
}
