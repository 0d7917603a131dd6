package dev.holdfast.spring.sample;

/** Work on a timer. */
public interface Report {
    void nightly();
}
