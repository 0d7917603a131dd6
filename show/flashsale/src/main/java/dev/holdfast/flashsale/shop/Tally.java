package dev.holdfast.flashsale.shop;

import java.util.List;
import java.util.Map;

/**
 * A sale as its orders say, whatever the row of the stock says.
 *
 * @param orders the number of orders
 * @param sold the number of tickets in them
 * @param oversold the number of tickets sold that there never were
 * @param soldBy the tickets by server
 * @param collisions orders that have read the same stock, the most first; at most five
 * @param refused late writes that the fence refused, the last first; at most five
 * @param refusals the number of late writes that were refused
 */
public record Tally(
        long orders,
        long sold,
        long oversold,
        Map<String, Long> soldBy,
        List<Collision> collisions,
        List<LateWrite> refused,
        long refusals) {
    /**
     * Orders that have sold the same ticket.
     *
     * @param seen how many were left when each of them read it
     * @param orders their number
     * @param servers the number of servers that took them
     */
    public record Collision(long seen, long orders, int servers) {}

    /**
     * A late write. Its tokens are text: numbers of JavaScript are too short for them.
     *
     * @param token the token that came too late
     * @param admitted the higher one that was here before
     */
    public record LateWrite(String token, String admitted) {
        static LateWrite of(Traces.Late late) {
            return new LateWrite(Long.toString(late.token()), Long.toString(late.admitted()));
        }
    }
}
