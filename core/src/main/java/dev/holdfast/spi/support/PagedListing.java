package dev.holdfast.spi.support;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;

/**
 * A list of locks or records, read page by page. Each page is a request of its own, so that renewals and releases get in
 * between however many names there are. The list is no snapshot: what changes meanwhile is shown as its page found it.
 *
 * @param <T> what is listed
 */
public final class PagedListing<T> {
    /** How many names are read at a time, whether there is something to list or not. */
    public static final int PAGE = 1_000;

    private final Function<String, ? extends CompletionStage<Page<T>>> read;
    private final Function<T, String> name;
    private final List<T> found = new ArrayList<>();
    private final CompletableFuture<List<T>> answer = new CompletableFuture<>();

    /**
     * A part of the list.
     *
     * @param found what it lists
     * @param end the last name that was read; empty at the end of the list
     */
    public record Page<T>(List<T> found, String end) {

        /**
         * A page that lists each name it has read.
         *
         * @param most how many such a page has, unless it is the last
         * @param name of each
         */
        public static <T> Page<T> of(List<T> found, int most, Function<T, String> name) {
            return new Page<>(found, found.size() < most ? "" : name.apply(found.get(found.size() - 1)));
        }
    }

    private PagedListing(Function<String, ? extends CompletionStage<Page<T>>> read, Function<T, String> name) {
        this.read = read;
        this.name = name;
    }

    /**
     * Reads all pages; sorted by name.
     *
     * @param read the page after a name; after the empty name for the first
     * @param name by which it is sorted
     */
    public static <T> CompletionStage<List<T>> all(
            Function<String, ? extends CompletionStage<Page<T>>> read, Function<T, String> name) {
        PagedListing<T> listing = new PagedListing<>(read, name);
        listing.next("");
        return listing.answer;
    }

    private void next(String after) {
        read.apply(after).whenComplete((page, failure) -> {
            try {
                if (failure != null) {
                    answer.completeExceptionally(failure);
                } else {
                    add(page);
                }
            } catch (Throwable broken) { // an Error, such as of memory for millions of names
                answer.completeExceptionally(broken);
            }
        });
    }

    private void add(Page<T> page) {
        found.addAll(page.found);
        if (page.end.isEmpty()) {
            found.sort(Comparator.comparing(name)); // databases sort by UTF-8, Java by UTF-16
            answer.complete(List.copyOf(found));
        } else {
            next(page.end);
        }
    }
}
