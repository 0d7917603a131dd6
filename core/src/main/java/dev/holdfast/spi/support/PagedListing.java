package dev.holdfast.spi.support;

import dev.holdfast.LockStatus;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;

/**
 * A list of locks, read page by page. Each page is a request of its own, so that renewals and releases get in between
 * however many names there are. The list is no snapshot: a lock that changes meanwhile is shown as its page found it.
 */
public final class PagedListing {
    /** How many names are read at a time, whether they are held or not. */
    public static final int PAGE = 1_000;

    private final Function<String, CompletionStage<Page>> read;
    private final List<LockStatus> found = new ArrayList<>();
    private final CompletableFuture<List<LockStatus>> answer = new CompletableFuture<>();

    /**
     * A part of the list.
     *
     * @param end the last name that was read; empty at the end of the list
     */
    public record Page(List<LockStatus> locks, String end) {}

    private PagedListing(Function<String, CompletionStage<Page>> read) {
        this.read = read;
    }

    /**
     * Reads all pages; sorted by name.
     *
     * @param read the page after a name; after the empty name for the first
     */
    public static CompletionStage<List<LockStatus>> all(Function<String, CompletionStage<Page>> read) {
        PagedListing listing = new PagedListing(read);
        listing.next("");
        return listing.answer;
    }

    private void next(String after) {
        read.apply(after).whenComplete((page, failure) -> {
            if (failure != null) {
                answer.completeExceptionally(failure);
                return;
            }
            found.addAll(page.locks);
            if (page.end.isEmpty()) {
                found.sort(Comparator.comparing(LockStatus::name)); // databases sort by UTF-8, Java by UTF-16
                answer.complete(found);
            } else {
                next(page.end);
            }
        });
    }
}
