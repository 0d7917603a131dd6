package dev.holdfast.spring.sample;

/** What the test calls, before the port and after it. */
public interface Account {
    void pay(long id, long amount) throws InterruptedException;

    boolean tryToRefund(long id, long amount) throws InterruptedException;

    void transfer(long from, long to, long amount) throws InterruptedException;
}
