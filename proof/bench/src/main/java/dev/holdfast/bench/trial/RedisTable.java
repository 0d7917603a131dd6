package dev.holdfast.bench.trial;

import dev.holdfast.bench.run.Schedule;
import dev.holdfast.recipes.Segment;
import dev.holdfast.recipes.Segments;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.sync.RedisCommands;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/**
 * A stock in Redis whose writes take their time, as a sale does that writes orders too.
 *
 * @param redis the server
 * @param key of its hash: a field for each segment, with its pieces and its token
 * @param size the number of segments
 * @param work what a write takes before it is done
 */
record RedisTable(RedisCommands<String, String> redis, String key, int size, Duration work) implements Segments {
    private static final String WRITE = "for i = 1, #ARGV, 3 do"
            + " if redis.call('HGET', KEYS[1], ARGV[i]) ~= ARGV[i + 1] then return 0 end end"
            + " for i = 1, #ARGV, 3 do redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 2]) end"
            + " return 1";

    void create() {
        redis.del(key);
        IntStream.range(0, size).forEach(number -> redis.hset(key, Integer.toString(number), "0:0"));
    }

    @Override
    public List<Segment> read() {
        String[] fields = IntStream.range(0, size).mapToObj(Integer::toString).toArray(String[]::new);
        List<Segment> read = new ArrayList<>();
        redis.hmget(key, fields).forEach(field -> {
            String[] words = field.getValue().split(":");
            read.add(new Segment(Integer.parseInt(field.getKey()), Long.parseLong(words[0]), Long.parseLong(words[1])));
        });
        return read;
    }

    @Override
    public boolean write(List<Change> changes) {
        Schedule.pause(work);
        String[] words = changes.stream()
                .flatMap(change ->
                        List.of(Integer.toString(change.read().number()), text(change.read()), text(change.changed()))
                                .stream())
                .toArray(String[]::new);
        Long written = redis.eval(WRITE, ScriptOutputType.INTEGER, new String[] {key}, words);
        return written != null && written == 1;
    }

    private static String text(Segment segment) {
        return segment.left() + ":" + segment.token();
    }
}
