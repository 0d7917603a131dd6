package dev.holdfast.redis;

import dev.holdfast.LockStatus;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.ClaimId;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentSkipListMap;
import org.jspecify.annotations.Nullable;

/** Reads and breaks the locks of a quorum, from the answers of its members. Thread-safe. */
final class QuorumReading {
    private final QuorumMembers members;

    QuorumReading(QuorumMembers members) {
        this.members = members;
    }

    private CompletableFuture<QuorumMembers.Answers<StatusReply>> ask(String name) {
        return members.ask(member -> member.scripts().statusReply(name), given -> true, QuorumMembers.GRACE)
                .thenApply(answers -> answers.orThrow(members));
    }

    CompletionStage<LockStatus> status(String name) {
        return ask(name).thenApply(answers -> combined(name, answers));
    }

    /**
     * Held by the round that has most members, if they may be a majority; the waiters are as many as a majority counts.
     */
    private LockStatus combined(String name, QuorumMembers.Answers<StatusReply> answers) {
        List<StatusReply> replies = new ArrayList<>();
        for (int i = 0; i < members.size(); i++) {
            StatusReply reply = answers.of(i);
            if (reply != null) {
                replies.add(reply);
            }
        }
        int waiting = replies.stream()
                .map(StatusReply::waiting)
                .sorted(Comparator.reverseOrder())
                .toList()
                .get(members.majority() - 1);
        Map<String, List<StatusReply>> byOwner = new HashMap<>();
        replies.stream()
                .filter(StatusReply::isHeld)
                .forEach(reply -> byOwner.computeIfAbsent(reply.owner(), owner -> new ArrayList<>())
                        .add(reply));
        List<StatusReply> most = byOwner.values().stream()
                .max(Comparator.comparingInt(List::size))
                .orElse(List.of());
        if (most.isEmpty() || most.size() + answers.missing() < members.majority()) {
            return LockStatus.free(name, waiting);
        }
        // The number that most of them have is that of the grant: a member that has yet to raise its own has a lower
        // one, and one that joined later may have a higher one. Its lease is over when fewer than a majority still have
        // one.
        StatusReply first = most.stream()
                .max(Comparator.comparingLong((StatusReply reply) -> most.stream()
                                .filter(other -> other.number() == reply.number())
                                .count())
                        .thenComparing(StatusReply::number, Comparator.reverseOrder()))
                .orElseThrow();
        long left = most.stream()
                .map(StatusReply::leftMillis)
                .sorted(Comparator.reverseOrder())
                .toList()
                .get(Math.min(members.majority(), most.size()) - 1);
        return first.status(name, left, waiting);
    }

    /** The names that any member lists, each with the status that a majority reports. */
    CompletionStage<List<LockStatus>> list(String prefix) {
        return members.ask(member -> member.listing().of(prefix), given -> true, QuorumMembers.GRACE)
                .thenCompose(answers -> {
                    answers.orThrow(members);
                    TreeSet<String> names = new TreeSet<>();
                    for (int i = 0; i < members.size(); i++) {
                        List<LockStatus> listed = answers.of(i);
                        if (listed != null) {
                            listed.forEach(status -> names.add(status.name()));
                        }
                    }
                    Map<String, LockStatus> known = new ConcurrentSkipListMap<>();
                    return statuses(List.copyOf(names), known).thenApply(done -> List.copyOf(known.values()));
                });
    }

    private CompletableFuture<Void> statuses(List<String> names, Map<String, LockStatus> known) {
        if (names.isEmpty()) {
            return CompletableFuture.completedFuture(null);
        }
        int some = Math.min(Listing.CHUNK, names.size());
        return CompletableFuture.allOf(names.subList(0, some).stream()
                        .map(name -> readable(name).thenAccept(status -> {
                            if (status.isHeld() || status.waiting() > 0) {
                                known.put(name, status);
                            }
                        }))
                        .toArray(CompletableFuture<?>[]::new))
                .thenCompose(done -> statuses(names.subList(some, names.size()), known));
    }

    private CompletableFuture<LockStatus> readable(String name) {
        return status(name).toCompletableFuture().exceptionally(failure -> {
            if (RedisErrors.unwrapped(failure) instanceof StoreRefusedException) {
                return LockStatus.unreadable(name);
            }
            throw new CompletionException(RedisErrors.unwrapped(failure));
        });
    }

    // ---- breaking ----

    /**
     * Ends the round to which a member gave this number, at all members. It is broken when a majority no longer has it:
     * its renewals fail from then on.
     */
    CompletionStage<Boolean> breakGrant(String name, long number, boolean now) {
        return ask(name).thenCompose(answers -> {
            Optional<String> owner = ownerOf(number, answers);
            if (owner.isEmpty()) {
                return CompletableFuture.completedFuture(false);
            }
            return members.ask(
                            member -> breakAt(member, name, answers.of(member.index()), owner.get(), now),
                            given -> true,
                            QuorumMembers.GRACE)
                    .thenApply(broken -> {
                        if (broken.count() < members.majority()) {
                            throw new StoreUnavailableException(
                                    "cannot tell whether '" + name + "' on "
                                            + members.errors().store() + " was broken: only " + broken.count()
                                            + " of its "
                                            + members.size() + " members answered; break it again",
                                    members.tooFew(broken.count(), broken.failures()));
                        }
                        return broken.count(existed -> existed) > 0;
                    });
        });
    }

    private Optional<String> ownerOf(long number, QuorumMembers.Answers<StatusReply> answers) {
        for (int i = 0; i < members.size(); i++) {
            StatusReply reply = answers.of(i);
            if (reply != null && reply.isHeld() && reply.number() == number) {
                return Optional.of(reply.owner());
            }
        }
        return Optional.empty();
    }

    /**
     * A break at once releases the round, too: the trace of a release keeps the round from joining this member again,
     * even if the member did not have it.
     */
    private static CompletionStage<Boolean> breakAt(
            QuorumMember member, String name, @Nullable StatusReply reply, String owner, boolean now) {
        if (reply == null && !now) {
            return CompletableFuture.failedFuture(new StoreUnavailableException("it did not answer"));
        }
        CompletableFuture<Boolean> broken =
                reply != null && reply.isHeld() && reply.owner().equals(owner)
                        ? member.scripts().breakGrant(name, reply.number(), now)
                        : CompletableFuture.completedFuture(false);
        return now
                ? broken.thenCombine(QuorumScripts.release(member, name, ClaimId.of(owner)), (one, two) -> one || two)
                : broken;
    }
}
