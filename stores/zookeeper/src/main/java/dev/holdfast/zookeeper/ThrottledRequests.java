package dev.holdfast.zookeeper;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Function;

/**
 * Many questions to the servers, few of them under way at a time, so that whatever else goes over the same connection,
 * renewals above all, waits for few. Each has the time-out of a request; all together take as long as they take.
 * Thread-safe.
 *
 * @param <A> what is asked about
 * @param <B> what is answered
 */
final class ThrottledRequests<A, B> {
    private static final int AT_A_TIME = 64;

    private final List<A> subjects;
    private final Function<A, CompletableFuture<B>> question;
    private final AtomicReferenceArray<B> answers;
    private final AtomicInteger asked = new AtomicInteger();
    private final AtomicInteger answered = new AtomicInteger();
    private final CompletableFuture<List<B>> all = new CompletableFuture<>();

    private ThrottledRequests(List<A> subjects, Function<A, CompletableFuture<B>> question) {
        this.subjects = subjects;
        this.question = question;
        this.answers = new AtomicReferenceArray<>(subjects.size());
    }

    /** The answers, in the order of their subjects; the first failure ends it. */
    static <A, B> CompletableFuture<List<B>> ask(List<A> subjects, Function<A, CompletableFuture<B>> question) {
        return ask(AT_A_TIME, subjects, question);
    }

    /** As {@link #ask(List, Function)}, with so many under way at a time. */
    static <A, B> CompletableFuture<List<B>> ask(
            int atATime, List<A> subjects, Function<A, CompletableFuture<B>> question) {
        ThrottledRequests<A, B> questions = new ThrottledRequests<>(subjects, question);
        if (subjects.isEmpty()) {
            questions.all.complete(List.of());
        }
        for (int i = 0; i < atATime; i++) {
            questions.askNext();
        }
        return questions.all;
    }

    private void askNext() {
        int next = asked.getAndIncrement();
        if (next < subjects.size() && !all.isDone()) {
            CompletableFuture.completedFuture(subjects.get(next))
                    .thenCompose(question)
                    .thenAccept(answer -> answered(next, answer))
                    .exceptionally(thrown -> {
                        all.completeExceptionally(Errors.unwrapped(thrown)); // whatever failed: asking, or what follows
                        return null;
                    });
        }
    }

    private void answered(int which, B answer) {
        answers.set(which, answer);
        if (answered.incrementAndGet() == subjects.size()) {
            List<B> list = new ArrayList<>(subjects.size());
            for (int i = 0; i < subjects.size(); i++) {
                list.add(answers.get(i));
            }
            all.complete(list);
        } else {
            askNext();
        }
    }
}
