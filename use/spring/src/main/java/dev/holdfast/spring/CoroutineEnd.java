package dev.holdfast.spring;

import kotlin.coroutines.AbstractCoroutineContextElement;
import kotlin.coroutines.Continuation;
import kotlin.coroutines.CoroutineContext;
import kotlinx.coroutines.Job;
import kotlinx.coroutines.ThreadContextElement;
import org.aopalliance.intercept.MethodInvocation;

/**
 * Finds the job of the coroutine in which a suspending function runs: a cancelled job ends when its code has ended,
 * which the {@code Mono} around it does not show. This element is in the coroutine's context, which asks it at each
 * resumption.
 */
final class CoroutineEnd extends AbstractCoroutineContextElement implements ThreadContextElement<Object> {
    private static final Key KEY = new Key();
    private static final Object NOTHING = new Object();

    private final BodyWork work;
    private volatile boolean known;

    private CoroutineEnd(BodyWork work) {
        super(KEY);
        this.work = work;
    }

    /** Puts it in the context of the call, which is in its last argument. */
    static void watch(MethodInvocation call, BodyWork work) {
        int last = call.getArguments().length - 1;
        if (call.getArguments()[last] instanceof Continuation<?> caller) {
            Methods.setArgument(
                    call, last, new Watched(caller, caller.getContext().plus(new CoroutineEnd(work))));
        }
    }

    @Override
    public Object updateThreadContext(CoroutineContext context) {
        Job job = context.get(Job.Key);
        if (!known && job != null) { // the first is that of the function, later ones may be of parts of it
            known = true;
            work.begun(end -> job.invokeOnCompletion(failure -> {
                end.run();
                return kotlin.Unit.INSTANCE;
            }));
        }
        return NOTHING;
    }

    @Override
    public void restoreThreadContext(CoroutineContext context, Object nothing) {}

    private static final class Key implements CoroutineContext.Key<CoroutineEnd> {}

    private record Watched(Continuation<?> caller, CoroutineContext context) implements Continuation<Object> {
        @Override
        public CoroutineContext getContext() {
            return context;
        }

        @Override
        @SuppressWarnings("unchecked")
        public void resumeWith(Object result) {
            ((Continuation<Object>) caller).resumeWith(result);
        }
    }
}
