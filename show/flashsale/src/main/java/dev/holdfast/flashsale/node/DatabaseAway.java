package dev.holdfast.flashsale.node;

import org.springframework.dao.DataAccessException;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.transaction.TransactionException;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;

/** Answers all requests that the database has failed, reading ones too, with 503. */
@RestControllerAdvice
final class DatabaseAway {
    @ExceptionHandler({DataAccessException.class, TransactionException.class})
    ResponseEntity<ProblemDetail> tryLater(Exception failure) {
        Refusal refusal = Refusal.ofStore("The database does not answer; send the request again.", failure);
        return ResponseEntity.status(refusal.getStatusCode())
                .headers(refusal.getHeaders())
                .body(refusal.getBody());
    }
}
