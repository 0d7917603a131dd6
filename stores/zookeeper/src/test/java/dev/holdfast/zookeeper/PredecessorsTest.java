package dev.holdfast.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Mode;
import dev.holdfast.spi.support.Queued;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Which claims of a queue wait for which. */
class PredecessorsTest {
    @Test
    void anExclusiveClaimWaitsForTheOneBeforeItWhateverItsMode() {
        List<String> queue = queue("x", "s", "x");
        assertThat(blockers("x", queue, 2)).containsExactly(queue.get(1));
        assertThat(blockers("x", queue, 0)).isEmpty();
    }

    @Test
    void aSharedClaimWaitsForTheLastBeforeItThatIsNotShared() {
        List<String> queue = queue("x", "s", "x", "s", "s");
        assertThat(blockers("s", queue, 4)).containsExactly(queue.get(2));
        assertThat(blockers("s", queue("s", "s", "s"), 2)).isEmpty();
    }

    @Test
    void aClaimForPermitsWaitsForTheLastFewThatLeaveTooLittle() {
        List<String> queue = queue("p1of3", "p1of3", "p1of3", "p1of3", "p1of3");
        assertThat(blockers("p1of3", queue, 2)).isEmpty();
        assertThat(blockers("p1of3", queue, 4)).containsExactly(queue.get(3), queue.get(2), queue.get(1));
    }

    @Test
    void aLargeClaimIsNotStarvedBySmallOnes() {
        List<String> queue = queue("p2of3", "p3of3", "p1of3");
        assertThat(blockers("p1of3", queue, 2)).containsExactly(queue.get(1));
        assertThat(holders(queue)).containsExactly(queue.get(0));
    }

    @Test
    void theHoldersAreTheHeadAndTheClaimsThatMayHoldBesideIt() {
        List<String> readers = queue("s", "s", "x", "s");
        assertThat(holders(readers)).containsExactlyElementsOf(readers.subList(0, 2));
        List<String> writers = queue("x", "x");
        assertThat(holders(writers)).containsExactly(writers.get(0));
    }

    @Test
    void holdersAreExactlyTheClaimsWithoutBlockers() {
        Random random = new Random(1);
        String[] kinds = {"x", "s", "p1of3", "p2of3", "p3of3"};
        for (int round = 0; round < 2_000; round++) {
            List<Node> queue = Predecessors.of(queue(random.ints(random.nextInt(7), 0, kinds.length)
                    .mapToObj(kind -> kinds[kind])
                    .toArray(String[]::new)));
            List<Node> unblocked = queue.stream()
                    .filter(node -> Queued.blockers(node.mode(), queue.subList(0, queue.indexOf(node)))
                            .isEmpty())
                    .toList();
            assertThat(Queued.holders(queue)).isEqualTo(unblocked);
        }
    }

    @Test
    void aClaimThatWasMadeAgainWaitsOnceThoughItsEarlierNodeIsStillThere() {
        List<Node> queue = List.of(made("x", 1, 1), made("x", 2, 2), made("s", 3, 3), made("x", 2, 4), made("x", 1, 5));

        assertThat(Queued.waiting(queue)).extracting(Node::place).containsExactly(2, 3);
    }

    private static Node made(String kind, int claim, int place) {
        return Node.parse("%s-%032x-%010d".formatted(kind, claim, place)).orElseThrow();
    }

    @Test
    void placesNearTheHighestNumberAndBelowZeroAreNotUsed() {
        int last = Integer.MAX_VALUE - 1_000_000;
        assertThat(beyondTheLast(0, 1, last)).containsOnly(false);
        assertThat(beyondTheLast(last + 1, Integer.MAX_VALUE, Integer.MIN_VALUE, -1))
                .containsOnly(true);
    }

    @Test
    void theOrderSurvivesTheHighestNumber() {
        List<String> queue = List.of(
                node("x", Integer.MAX_VALUE - 1),
                node("x", Integer.MAX_VALUE),
                node("x", Integer.MIN_VALUE),
                node("x", Integer.MIN_VALUE + 1),
                node("x", -1));
        List<String> shuffled = new ArrayList<>(queue);
        Collections.shuffle(shuffled);
        assertThat(Predecessors.of(shuffled)).extracting(Node::name).isEqualTo(queue);
        assertThat(blockers("x", queue, 2)).containsExactly(queue.get(1));
    }

    @Test
    void otherPeoplesNodesArePassedOver() {
        List<String> children = new ArrayList<>(queue("x"));
        children.addAll(List.of(
                "lock-0000000000",
                "x",
                "",
                "y-" + ClaimId.random() + "-0000000000",
                "p9of3-" + ClaimId.random() + "-0000000000"));
        assertThat(Predecessors.of(children)).hasSize(1);
    }

    @Test
    void whatOnlyResemblesTheNameOfAClaimIsNone() {
        ClaimId id = ClaimId.random();
        assertThat(Stream.of("-0000000001", "--000000001", "-2147483647", "--2147483648"))
                .allMatch(place -> Node.parse("x-" + id + place).isPresent());
        assertThat(Stream.of(
                        "",
                        "-",
                        "--",
                        "-00000001",
                        "-00000000001",
                        "-2147483648",
                        "--2147483649",
                        "---000000001",
                        "-+000000001",
                        "-000000001x",
                        "-000000001\n",
                        "-\u0660\u0660\u0660\u0660\u0660\u0660\u0660\u0660\u0660\u0661"))
                .allMatch(place -> Node.parse("x-" + id + place).isEmpty());
        assertThat(Stream.of("", "X", "xx", "p", "pof", "p1of", "pof3", "p0of3", "p-1of3", "p1of1234567890", "-x"))
                .allMatch(kind -> Node.parse(kind + "-" + id + "-0000000001").isEmpty());
        assertThat(Node.parse("x-" + "A".repeat(32) + "-0000000001")).isEmpty();
        assertThat(Node.parse("x-" + "0".repeat(31) + "-0000000001")).isEmpty();
    }

    private static List<String> blockers(String kind, List<String> queue, int index) {
        Node mine = Node.parse(queue.get(index)).orElseThrow();
        Mode mode = Node.parse(node(kind, 0)).orElseThrow().mode();
        return Queued.blockers(mode, Predecessors.before(mine, queue)).stream()
                .map(Node::name)
                .toList();
    }

    private static List<Boolean> beyondTheLast(int... places) {
        return IntStream.of(places)
                .mapToObj(place -> Node.parse(node("x", place)).orElseThrow().isBeyondTheLast())
                .toList();
    }

    private static List<String> holders(List<String> queue) {
        return Queued.holders(Predecessors.of(queue)).stream().map(Node::name).toList();
    }

    private static List<String> queue(String... kinds) {
        List<String> queue = new ArrayList<>();
        for (String kind : kinds) {
            queue.add(node(kind, queue.size()));
        }
        return queue;
    }

    /** As the server writes it. */
    private static String node(String kind, int place) {
        return kind + "-" + ClaimId.random() + "-" + String.format(java.util.Locale.ENGLISH, "%010d", place);
    }
}
