package dev.holdfast.etcd;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.StaleTokenException;
import dev.holdfast.spi.support.StoredToken;
import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.KeyValue;
import io.etcd.jetcd.kv.TxnResponse;
import io.etcd.jetcd.op.Cmp;
import io.etcd.jetcd.op.CmpTarget;
import io.etcd.jetcd.op.Op;
import io.etcd.jetcd.options.GetOption;
import io.etcd.jetcd.options.PutOption;
import java.time.Duration;
import java.util.Locale;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * A fence in etcd: admits work whose token is at least as high as every token seen before for the same resource. It guards
 * data that lives in etcd, or anything that can be reached only through a check there.
 *
 * <pre>{@code
 * EtcdFence fence = EtcdFence.on(etcd);
 * try (Hold hold = client.lock("config").acquire()) {
 *     fence.check("config", hold.token());        // StaleTokenException once a later hold was here
 *     etcd.getKVClient().put(key, value).get();
 * }
 * }</pre>
 *
 * <p>For exclusive holds only. The check reads the highest token and writes only over what it read; what follows it is a
 * step of its own, and a later holder may come in between. The highest token stays for ever under
 * {@code /holdfast/fences/} and the resource's name: a fence that forgets protects nothing. Thread-safe.
 */
public final class EtcdFence {
    private final Client client;
    private final Keys keys;
    private final Duration limit;
    private final Errors errors;

    EtcdFence(Client client, String prefix, Duration limit, Errors errors) {
        Requests.makeStubs(client);
        this.client = client;
        this.keys = new Keys(prefix);
        this.limit = limit;
        this.errors = errors;
    }

    /** A fence that remembers in the servers, and under the namespace, of this client, which stays the caller's. */
    public static EtcdFence on(Client client) {
        return on(client, "");
    }

    /**
     * A fence on this client, under a prefix.
     *
     * @param prefix of all keys, such as {@code /app}; that of {@link EtcdStores#on(Client, String)} will do
     */
    public static EtcdFence on(Client client, String prefix) {
        return new EtcdFence(client, prefix, EtcdUrl.TIMEOUT, new Errors("the etcd of the fence"));
    }

    /**
     * Admits a token; waits for the servers' answer, five seconds at most: longer only while the JVM loads the client.
     *
     * @param resource what is guarded; usually the name of the lock
     * @param token of the hold under which the work is done, not negative
     * @throws StaleTokenException if a higher one was admitted before
     * @throws IllegalArgumentException if the token is negative
     * @throws dev.holdfast.StoreUnavailableException if the servers did not answer, or the thread was interrupted, as its
     *     flag then says; the token may have been admitted
     * @throws dev.holdfast.StoreRefusedException if they refused, because a right is missing or the key holds something
     *     else
     */
    public void check(String resource, long token) {
        if (token < 0) {
            throw new IllegalArgumentException("a token is not negative: " + token);
        }
        ByteSequence key = keys.fence(resource);
        ByteSequence value = Keys.bytes(digits(token));
        long begun = System.nanoTime();
        CompletableFuture<TxnResponse> asked = ask(key, value, 0);
        long handedOver = System.nanoTime();
        long due = handedOver + Requests.withLoading(limit, handedOver - begun).toNanos();
        while (true) {
            TxnResponse answer = await(asked, due);
            if (answer.isSucceeded()) {
                return;
            }
            long read = 0;
            for (KeyValue last : answer.getGetResponses().get(0).getKvs()) {
                long highest = parse(last);
                if (highest > token) {
                    throw new StaleTokenException(resource, token, highest);
                }
                if (highest == token) {
                    return; // admitted before: those who check one token do not keep each other from it
                }
                read = last.getModRevision();
            }
            asked = ask(key, value, read);
        }
    }

    /**
     * Writes over what was read.
     *
     * @param read the revision of the value that was read; 0 for none
     */
    private CompletableFuture<TxnResponse> ask(ByteSequence key, ByteSequence value, long read) {
        return client.getKVClient()
                .txn()
                .If(new Cmp(key, Cmp.Op.EQUAL, CmpTarget.modRevision(read)))
                .Then(Op.put(key, value, PutOption.DEFAULT))
                .Else(Op.get(key, GetOption.DEFAULT))
                .commit();
    }

    /** As many digits for each: fences of earlier versions have etcd compare them, byte by byte. */
    private static String digits(long token) {
        return String.format(Locale.ROOT, "%019d", token);
    }

    private long parse(KeyValue highest) {
        String text = highest.getValue().toString(UTF_8);
        OptionalLong token = StoredToken.of(text.replaceFirst("^0{1,18}", ""));
        if (token.isEmpty() || !digits(token.getAsLong()).equals(text)) {
            throw errors.refused(
                    StoredToken.foreign("key is " + highest.getKey().toString(UTF_8)), null);
        }
        return token.getAsLong();
    }

    private TxnResponse await(CompletableFuture<TxnResponse> answer, long due) {
        try {
            return answer.get(due - System.nanoTime(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException late) {
            throw errors.noAnswer();
        } catch (ExecutionException failed) {
            throw errors.of(failed);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw errors.unavailable("was not waited for: the thread was interrupted", e);
        }
    }
}
