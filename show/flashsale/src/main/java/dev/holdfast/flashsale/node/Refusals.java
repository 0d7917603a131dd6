package dev.holdfast.flashsale.node;

import io.swagger.v3.oas.annotations.media.Content;
import io.swagger.v3.oas.annotations.media.Schema;
import io.swagger.v3.oas.annotations.responses.ApiResponse;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.http.ProblemDetail;

/** For the OpenAPI page: how an order or a withdrawal may be refused, each time with a problem as RFC 9457 has it. */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@ApiResponse(
        responseCode = "400",
        description = "wrong body, number or key",
        content = @Content(mediaType = Refusals.PROBLEM, schema = @Schema(implementation = ProblemDetail.class)))
@ApiResponse(
        responseCode = "404",
        description = "unknown",
        content = @Content(mediaType = Refusals.PROBLEM, schema = @Schema(implementation = ProblemDetail.class)))
@ApiResponse(
        responseCode = "409",
        description = "too little is left",
        content = @Content(mediaType = Refusals.PROBLEM, schema = @Schema(implementation = ProblemDetail.class)))
@ApiResponse(
        responseCode = "422",
        description = "the key belongs to another order",
        content = @Content(mediaType = Refusals.PROBLEM, schema = @Schema(implementation = ProblemDetail.class)))
@ApiResponse(
        responseCode = "429",
        description = "too many people; Retry-After says when to try again",
        content = @Content(mediaType = Refusals.PROBLEM, schema = @Schema(implementation = ProblemDetail.class)))
@ApiResponse(
        responseCode = "503",
        description = "the store does not answer; Retry-After says when to send it again, with the same key",
        content = @Content(mediaType = Refusals.PROBLEM, schema = @Schema(implementation = ProblemDetail.class)))
@interface Refusals {
    /** What a refusal is. */
    String PROBLEM = "application/problem+json";
}
