package dev.holdfast.spring.boot;

import dev.holdfast.LockClient;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.SmartLifecycle;

/**
 * Closes the lock clients at the right moment of a shutdown: the phases end from the highest to the lowest.
 *
 * <pre>
 *   2³¹ - 1025, - 2049   the web server drains and stops
 *   2³⁰ - 1              the schedulers and executors drain
 *   3                    the calls of annotated methods end
 *   2                    candidacies end
 *   1                    lock clients close
 *   0                    the Redis client stops
 *   with the beans       pools close
 * </pre>
 *
 * <p>Work that holds a lock finishes within {@code spring.lifecycle.timeout-per-shutdown-phase}; what is still held then
 * is released by the close of its client. A context that is only paused keeps its clients. A client that Spring would not
 * close itself, because its bean has {@code destroyMethod = ""} or no definition, is somebody else's and stays open.
 */
final class LockClientLifecycle implements SmartLifecycle {
    /** Earlier than Spring Data's Redis connections stop, later than everything that runs work. */
    static final int PHASE = 1;

    private final ConfigurableApplicationContext context;
    private final ConfigurableListableBeanFactory beans;
    private volatile boolean running;

    LockClientLifecycle(ConfigurableApplicationContext context) {
        this.context = context;
        this.beans = context.getBeanFactory();
    }

    @Override
    public void start() {
        running = true;
    }

    @Override
    public void stop() {
        running = false;
        if (context.isClosed()) { // from the beginning of its close on
            for (String name : beans.getBeanNamesForType(LockClient.class, false, false)) {
                if (isClosedHere(name) && beans.getSingleton(name) instanceof LockClient client) {
                    client.close();
                }
            }
        }
    }

    private boolean isClosedHere(String name) {
        return beans.containsBeanDefinition(name)
                && !"".equals(beans.getMergedBeanDefinition(name).getDestroyMethodName());
    }

    @Override
    public boolean isRunning() {
        return running;
    }

    @Override
    public int getPhase() {
        return PHASE;
    }
}
