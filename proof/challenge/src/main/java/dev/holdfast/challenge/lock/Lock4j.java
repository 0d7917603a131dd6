package dev.holdfast.challenge.lock;

import com.baomidou.lock.LockInfo;
import com.baomidou.lock.LockTemplate;
import com.baomidou.lock.executor.RedisTemplateLockExecutor;
import com.baomidou.lock.spring.boot.autoconfigure.Lock4jProperties;
import dev.holdfast.challenge.lock.LockKind.Place;
import dev.holdfast.spi.Mode;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.core.StringRedisTemplate;

/** lock4j over Spring's Redis template, with its default properties: 30 s, tried each 100 ms for 3 s. */
record Lock4j(LockTemplate template, String name) implements AttackedLock {
    static Lock4j at(Place place) throws Exception {
        LockTemplate template = new LockTemplate();
        Lock4jProperties defaults = new Lock4jProperties();
        template.setProperties(defaults);
        template.setExecutors(
                List.of(new RedisTemplateLockExecutor(new StringRedisTemplate(SpringConnections.at(place)), defaults)));
        template.afterPropertiesSet();
        return new Lock4j(template, place.name());
    }

    @Override
    public Result turn(Mode mode, Work work) throws Exception {
        @Nullable LockInfo lock = template.lock(name);
        while (lock == null) {
            lock = template.lock(name);
        }
        try {
            work.run(Grip.UNTOLD);
        } finally {
            boolean unused = template.releaseLock(lock);
        }
        return Result.DONE;
    }
}
