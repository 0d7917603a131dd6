package dev.holdfast.tck;

import org.junit.jupiter.api.ClassOrderer;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestClassOrder;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;

/**
 * The contract every store passes. A store is tested by a subclass that says how to open it:
 *
 * <pre>{@code
 * class SqliteStoreContractTest extends StoreContract {
 *     @TempDir
 *     Path folder;
 *
 *     @Override
 *     protected Store open(StoreContext context) {
 *         return new SqliteStoreProvider().open(url().orElseThrow(), context);
 *     }
 *
 *     @Override
 *     protected Optional<String> url() {
 *         return Optional.of("sqlite:" + folder.resolve("locks.db"));
 *     }
 * }
 * }</pre>
 *
 * <p>Three storeys of cases, one nested class each idea:
 *
 * <pre>
 *   the store itself       stale holders, grants, numbers, leases, queue, breaking, names, modes, stamps, close, reading, outage
 *   through the engine     outages, exclusion, losses, claims given up, holds, wanted locks, read-write locks, semaphores, multi-locks, elections, once, footprint
 *   between processes      children that are killed and stopped        (needs a URL)
 * </pre>
 *
 * <p>For every capability both answers are asserted: what a store says it cannot do it must refuse. What cannot be tried
 * on a store is a skipped test that says why.
 *
 * <p>Each test uses names of its own, so that all may share one backing: a server that is started once, or a file for
 * each test. A new instance of the subclass is made for each test.
 */
@TestInstance(Lifecycle.PER_METHOD)
@TestClassOrder(ClassOrderer.OrderAnnotation.class)
public abstract class StoreContract extends StoreUnderTest {
    /** The tag of the cases of the store itself. A store may have a class for each of the three, which run side by side. */
    public static final String STORE = "store";

    /** The tag of the cases that run through the engine: a build may leave them out where another store proves them. */
    public static final String ENGINE = "engine";

    /** The tag of the cases between processes, the slowest of all. */
    public static final String PROCESSES = "processes";

    /** The tag of the cases between processes that share a lock. */
    public static final String SHARED_PROCESSES = "shared-processes";

    /**
     * The tag of the cases of the store itself that ask what it makes of values: names, modes, numbers, batches. Replicas
     * of one server make the same of them.
     */
    public static final String VALUES = "values";

    /** The tag of a case of values that no other store proves: each writes names in its own way. */
    static final String EACH_STORE = "each-store";

    /** The tag of the cases of records, and of work that runs once. */
    public static final String ONCE = "once";

    /** The tag of the cases of what callers are told of an outage. The store says that there is one in its own cases. */
    static final String CLIENT_OUTAGES = "client-outages";

    /** For subclasses. */
    protected StoreContract() {}

    @Nested
    @Tag(STORE)
    @Order(1)
    class StaleHolders extends StaleHolderCases {
        StaleHolders() {
            super(StoreContract.this);
        }
    }

    @Nested
    @Tag(STORE)
    @Order(2)
    class Grants extends GrantCases {
        Grants() {
            super(StoreContract.this);
        }
    }

    @Nested
    @Tag(STORE)
    @Tag(VALUES)
    @Order(3)
    class Numbers extends NumberCases {
        Numbers() {
            super(StoreContract.this);
        }
    }

    @Nested
    @Tag(STORE)
    @Tag(VALUES)
    @Order(4)
    class Leases extends LeaseCases {
        Leases() {
            super(StoreContract.this);
        }
    }

    @Nested
    @Tag(STORE)
    @Order(5)
    class Queue extends QueueCases {
        Queue() {
            super(StoreContract.this);
        }
    }

    @Nested
    @Tag(STORE)
    @Order(6)
    class Breaking extends BreakCases {
        Breaking() {
            super(StoreContract.this);
        }
    }

    @Nested
    @Tag(STORE)
    @Tag(VALUES)
    @Order(0) // before cases with many names: a store may list slower when it has been full
    class Names extends NameCases {
        Names() {
            super(StoreContract.this);
        }
    }

    @Nested
    @Tag(STORE)
    @Tag(VALUES)
    @Order(8)
    class Modes extends ModeCases {
        Modes() {
            super(StoreContract.this);
        }
    }

    @Nested
    @Tag(STORE)
    @Tag(VALUES)
    @Order(9)
    class Stamps extends StampCases {
        Stamps() {
            super(StoreContract.this);
        }
    }

    @Nested
    @Tag(STORE)
    @Order(10)
    class Close extends CloseCases {
        Close() {
            super(StoreContract.this);
        }
    }

    @Nested
    @Tag(STORE)
    @Order(11)
    class Reading extends ReadingCases {
        Reading() {
            super(StoreContract.this);
        }
    }

    @Nested
    @Tag(STORE)
    @Order(11)
    class Outages extends OutageCases {
        Outages() {
            super(StoreContract.this);
        }
    }

    @Nested
    @Tag(ENGINE)
    @Tag(CLIENT_OUTAGES)
    @Order(12)
    class ClientOutages extends ClientOutageCases {
        ClientOutages() {
            super(StoreContract.this);
        }
    }

    @Nested
    @Tag(ENGINE)
    @Order(12)
    class Exclusion extends ExclusionCases {
        Exclusion() {
            super(StoreContract.this);
        }
    }

    @Nested
    @Tag(ENGINE)
    @Order(13)
    class Losses extends LossCases {
        Losses() {
            super(StoreContract.this);
        }
    }

    @Nested
    @Tag(ENGINE)
    @Order(14)
    class Abandoned extends AbandonedCases {
        Abandoned() {
            super(StoreContract.this);
        }
    }

    @Nested
    @Tag(ENGINE)
    @Order(15)
    class Holds extends HoldCases {
        Holds() {
            super(StoreContract.this);
        }
    }

    @Nested
    @Tag(ENGINE)
    @Order(15)
    class Wanted extends WantedCases {
        Wanted() {
            super(StoreContract.this);
        }
    }

    @Nested
    @Tag(ENGINE)
    @Order(16)
    class ReadWriteLocks extends ReadWriteCases {
        ReadWriteLocks() {
            super(StoreContract.this);
        }
    }

    @Nested
    @Tag(ENGINE)
    @Order(17)
    class Downgrades extends DowngradeCases {
        Downgrades() {
            super(StoreContract.this);
        }
    }

    @Nested
    @Tag(ENGINE)
    @Order(18)
    class Semaphores extends SemaphoreCases {
        Semaphores() {
            super(StoreContract.this);
        }
    }

    @Nested
    @Tag(ENGINE)
    @Order(19)
    class MultiLocks extends MultiLockCases {
        MultiLocks() {
            super(StoreContract.this);
        }
    }

    @Nested
    @Tag(ENGINE)
    @Order(20)
    class Elections extends ElectionCases {
        Elections() {
            super(StoreContract.this);
        }
    }

    @Nested
    @Tag(STORE)
    @Tag(ONCE)
    @Order(20)
    class Onces extends OnceCases {
        Onces() {
            super(StoreContract.this);
        }
    }

    @Nested
    @Tag(ENGINE)
    @Order(20)
    class Footprint extends FootprintCases {
        Footprint() {
            super(StoreContract.this);
        }
    }

    @Nested
    @Tag(PROCESSES)
    @Order(21)
    class Processes extends ProcessCases {
        Processes() {
            super(StoreContract.this);
        }
    }

    @Nested
    @Tag(PROCESSES)
    @Tag(ONCE)
    @Order(22)
    class OnceProcesses extends OnceProcessCases {
        OnceProcesses() {
            super(StoreContract.this);
        }
    }

    @Nested
    @Tag(PROCESSES)
    @Tag(SHARED_PROCESSES)
    @Order(22)
    class SharedProcesses extends SharedProcessCases {
        SharedProcesses() {
            super(StoreContract.this);
        }
    }
}
