package dev.holdfast.docs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.Candidacy;
import dev.holdfast.LeaderElection;
import dev.holdfast.LockClient;
import dev.holdfast.LockStatus;
import dev.holdfast.Term;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The snippets of the page on leader election, run. */
@Timeout(120)
class LeaderElectionPageTest {
    @AutoClose
    private final LockClient client = LockClient.connect("mem:leader-page");

    private final Scheduler scheduler = new Scheduler();
    /** What the leader writes: the next only when the last was read. */
    private final BlockingQueue<Long> written = new ArrayBlockingQueue<>(1);

    @Test
    void listeners() {
        // @formatter:off
        // snippet election
        LeaderElection reports = client.election("reports");

        Candidacy candidacy = reports.stand(
                term -> scheduler.start(term.token()),      // this process leads
                term -> scheduler.stop());                  // it does not lead any more
        // end
        // @formatter:on
        await().until(() -> scheduler.running);
        candidacy.close();
        assertThat(scheduler.running).isFalse();
    }

    @Test
    void work() throws InterruptedException {
        // @formatter:off
        // snippet electionWork
        Candidacy candidacy = client.election("reports").lead(term -> {
            while (term.isValid()) {
                writeNext(term.token());                    // interrupted when the term is lost
            }
        });
        // end
        // @formatter:on
        long first = written.take();
        assertThat(written.take()).isEqualTo(first).isPositive();
        candidacy.close();
    }

    @Test
    void waiting() throws InterruptedException {
        // @formatter:off
        // snippet electionWait
        Candidacy candidacy = client.election("reports").stand();
        Optional<Term> soon = candidacy.awaitTerm(Duration.ofSeconds(5));
        Term term = candidacy.awaitTerm();              // as long as it takes
        boolean leads = candidacy.isLeader();           // asks nobody
        term.resign();                                  // the next in line leads; this one queues up behind
        candidacy.close();
        // end
        // @formatter:on
        assertThat(soon).isPresent();
        assertThat(leads).isTrue();
        assertThat(client.lock("reports").status().isHeld()).isFalse();
    }

    @Test
    void seen() throws InterruptedException {
        try (Candidacy candidacy = client.election("reports").stand()) {
            Term term = candidacy.awaitTerm();
            // @formatter:off
            // snippet electionStatus
            LockStatus status = client.election("reports").status();
            status.grant().ifPresent(leader -> System.out.println(leader.holder() + ", term " + leader.token()));
            System.out.println(status.waiting() + " candidates in line");
            client.election("reports").candidates()                         // where the store keeps their names
                    .ifPresent(line -> line.forEach(candidate -> System.out.println(candidate.who())));
            // end
            // @formatter:on
            assertThat(status.grant().map(LockStatus.Held::token)).contains(term.token());
        }
    }

    private void writeNext(long token) throws InterruptedException {
        written.put(token);
    }

    /** Something that only the leader runs. */
    private static final class Scheduler {
        volatile boolean running;

        void start(long token) {
            running = token > 0;
        }

        void stop() {
            running = false;
        }
    }
}
