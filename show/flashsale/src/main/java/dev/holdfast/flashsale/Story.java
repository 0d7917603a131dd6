package dev.holdfast.flashsale;

import dev.holdfast.flashsale.scene.Span;
import dev.holdfast.flashsale.shop.Sale;
import dev.holdfast.flashsale.shop.Tally;
import dev.holdfast.flashsale.shop.Traces;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * What happened, told by a few orders in the lanes of their servers: those that sold the same ticket; else the write that
 * came too late, beside those that overtook it; else those around the death of a server; else the first ones.
 */
final class Story {
    private Story() {}

    /** The spans since the first of them, in milliseconds: orders from their reading to their writing. */
    static List<Span> of(Traces traces, Sale sale, Tally tally, Optional<Strikes.Death> death) {
        List<Span> spans;
        if (!tally.collisions().isEmpty()) {
            spans = soldTwice(
                    traces.thatRead(sale.id(), tally.collisions().get(0).seen()));
        } else if (tally.refusals() > 0) {
            spans = late(traces, sale.id());
        } else {
            spans = death.map(killed -> around(traces, sale.id(), killed))
                    .orElseGet(() -> written(traces.first(sale.id())));
        }
        return fromZero(spans);
    }

    /** The first who wrote has sold the ticket; all others have sold it again. */
    private static List<Span> soldTwice(List<Traces.Trace> orders) {
        return Stream.concat(
                        orders.stream().limit(1).map(order -> span(order, "sold")),
                        orders.stream().skip(1).map(order -> span(order, "twice")))
                .toList();
    }

    private static List<Span> late(Traces traces, String sale) {
        List<Span> spans = new ArrayList<>();
        traces.late(sale).stream().findFirst().ifPresent(late -> {
            spans.add(new Span(
                    late.node(), "late", late.readAt(), late.refusedAt(), late.token() + " < " + late.admitted()));
            spans.addAll(written(traces.writtenBetween(sale, late.readAt(), late.refusedAt())));
        });
        return spans;
    }

    private static List<Span> around(Traces traces, String sale, Strikes.Death death) {
        List<Span> spans = new ArrayList<>(written(traces.around(sale, death.at())));
        spans.add(new Span(Integer.toString(death.server()), "killed", death.at(), death.at(), ""));
        return spans;
    }

    private static List<Span> written(List<Traces.Trace> orders) {
        return orders.stream().map(order -> span(order, "sold")).toList();
    }

    private static Span span(Traces.Trace order, String kind) {
        return new Span(order.node(), kind, order.readAt(), order.writtenAt(), order.seen() + " → " + order.left());
    }

    private static List<Span> fromZero(List<Span> spans) {
        long began = spans.stream().mapToLong(Span::from).min().orElse(0);
        return spans.stream()
                .map(span -> new Span(span.lane(), span.kind(), span.from() - began, span.to() - began, span.value()))
                .sorted(Comparator.comparingLong(Span::from).thenComparingLong(Span::to))
                .toList();
    }
}
