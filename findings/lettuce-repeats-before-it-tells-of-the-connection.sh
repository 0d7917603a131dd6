#!/usr/bin/env bash
# Lettuce 7.7.0, Redis 7.0.15 (embedded-redis 0.9.1): after a broken connection, Lettuce sends each unanswered command again before it
# calls onRedisConnected() and publishes ConnectionActivatedEvent.
#
# A good guess: a listener learns of the new connection first, and what is repeated is sent on it afterwards, so the moment of the
# call is no later than the moment of the sending.
# Seen: all that was unanswered is written first, then both are told, on the same thread. With 50,000 other commands unanswered the
# listener was called 140 to 380 ms after the lock's command was written, and 10 to 50 ms after the server had it; on a busy machine
# seconds, and up to 900 ms. ConnectedEvent comes earlier, for the bare socket, on a thread of its own and with no time in it; here
# it was first each time, which nothing promises.
# Why a locker cares: a lock that is granted after a reconnect has a lease that began at an unknown time. Counted from the call of the
# method it may be over; counted from onRedisConnected() it is too long, and a rival has the lock before it ends. Count from when
# the command was last written: override encode() of the command, as this script does.
# Fails if the behaviour changes. Needs Java 17 and Maven.
set -euo pipefail
home=$(mktemp -d)
trap 'kill "$(cat "$home/pid")" 2>/dev/null; sleep 0.3; rm -rf "$home"' EXIT
mvn -B -q org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy -Dartifact=org.signal:embedded-redis:0.9.1 -DoutputDirectory="$home"
(cd "$home" && jar xf embedded-redis-0.9.1.jar)
case $(uname -m) in x86_64) arch=amd64 ;; *) arch=arm64 ;; esac
server=$(find "$home" -name "redis-server*linux-$arch" | head -1); chmod +x "$server"
port=$((20000 + RANDOM % 10000))
"$server" --port "$port" --bind 127.0.0.1 --dir "$home" --save "" >"$home/redis.log" 2>&1 &
echo $! >"$home/pid"
until (exec 4<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do sleep 0.1; done
cat >"$home/pom.xml" <<'XML'
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>finding</groupId><artifactId>finding</artifactId><version>1</version>
  <dependencies>
    <dependency><groupId>io.lettuce</groupId><artifactId>lettuce-core</artifactId><version>7.7.0.RELEASE</version></dependency>
  </dependencies>
</project>
XML
mvn -B -q -f "$home/pom.xml" org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies -DoutputDirectory="$home/lib"
cat >"$home/Told.java" <<'JAVA'
import io.lettuce.core.*;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.event.Event;
import io.lettuce.core.event.connection.*;
import io.lettuce.core.output.StatusOutput;
import io.lettuce.core.protocol.*;
import io.netty.buffer.ByteBuf;
import java.io.*;
import java.net.*;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.*;
import java.util.concurrent.atomic.AtomicLong;

public class Told {
    static final long LEASE = 1500;

    /** Between client and server. Its first connection swallows the lock's command and all after it, and ends when it is told to. */
    static class Proxy {
        final ServerSocket server = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());
        final CountDownLatch end = new CountDownLatch(1);
        final CompletableFuture<Long> repeated = new CompletableFuture<>();

        Proxy(int port) throws IOException {
            start(() -> {
                for (boolean first = true; ; first = false) {
                    Socket client = server.accept();
                    Socket redis = new Socket(InetAddress.getLoopbackAddress(), port);
                    boolean swallow = first;
                    start(() -> redis.getInputStream().transferTo(client.getOutputStream()));
                    start(() -> toRedis(client, redis, swallow));
                    if (first) {
                        end.await();
                        client.close();
                        redis.close();
                    }
                }
            });
        }

        void toRedis(Socket client, Socket redis, boolean swallow) throws IOException {
            byte[] bytes = new byte[1 << 16];
            boolean seen = false;
            for (int n; (n = client.getInputStream().read(bytes)) > 0; ) {
                long now = System.nanoTime();
                if (!seen && new String(bytes, 0, n, StandardCharsets.ISO_8859_1).contains("the-lock")) {
                    seen = true;
                    if (!swallow) repeated.complete(now);
                }
                if (!(swallow && seen)) redis.getOutputStream().write(bytes, 0, n);
            }
        }
    }

    interface Task {
        void run() throws Exception;
    }

    static void start(Task task) {
        Thread thread = new Thread(() -> {
            try {
                task.run();
            } catch (Exception closed) {
                // the end of this connection
            }
        });
        thread.setDaemon(true);
        thread.start();
    }

    static CompletableFuture<Long> first(RedisClient client, Class<? extends Event> type) {
        CompletableFuture<Long> heard = new CompletableFuture<>();
        client.getResources().eventBus().get().filter(type::isInstance).subscribe(e -> heard.complete(System.nanoTime()));
        return heard;
    }

    static long ms(CompletableFuture<Long> later, long earlier) throws Exception {
        return Math.floorDiv(later.get(20, TimeUnit.SECONDS) - earlier, 1_000_000L);
    }

    static void round(int port, int others) throws Exception {
        Proxy proxy = new Proxy(port);
        RedisClient client = RedisClient.create(RedisURI.create("127.0.0.1", proxy.server.getLocalPort()));
        RedisClient direct = RedisClient.create(RedisURI.create("127.0.0.1", port));
        StatefulRedisConnection<String, String> rival = direct.connect();
        StatefulRedisConnection<String, String> connection = client.connect();
        rival.sync().flushall();
        CompletableFuture<Long> listener = new CompletableFuture<>();
        connection.addListener(new RedisConnectionStateListener() {
            @Override
            public void onRedisConnected(RedisChannelHandler<?, ?> which, SocketAddress address) {
                listener.complete(System.nanoTime());
            }
        });
        CompletableFuture<Long> socket = first(client, ConnectedEvent.class);
        CompletableFuture<Long> activated = first(client, ConnectionActivatedEvent.class);
        AtomicLong written = new AtomicLong();
        CommandArgs<String, String> words =
                new CommandArgs<>(StringCodec.UTF8).addKey("the-lock").addValue("me").add("NX").add("PX").add(LEASE);
        AsyncCommand<String, String, String> lock =
                new AsyncCommand<>(new Command<>(CommandType.SET, new StatusOutput<>(StringCodec.UTF8), words) {
                    @Override
                    public void encode(ByteBuf buffer) {
                        written.set(System.nanoTime());
                        super.encode(buffer);
                    }
                });
        connection.dispatch(lock);
        for (int i = 0; i < others; i++) connection.async().pexpire("other-" + i, LEASE);
        proxy.end.countDown();
        String answer = lock.get(20, TimeUnit.SECONDS);
        while (rival.sync().set("the-lock", "rival", SetArgs.Builder.nx().px(LEASE)) == null) Thread.sleep(1);
        long taken = System.nanoTime();
        long again = written.get();
        System.out.println(others + " others: " + answer + ", told " + (listener.get() > again && activated.get() > again ? "after" : "BEFORE")
                + " it was written again: listener " + ms(listener, again) + " ms, activated " + ms(activated, again) + " ms, socket "
                + ms(socket, again) + " ms; listener " + ms(listener, proxy.repeated.get()) + " ms after the server had it; a rival had it "
                + (LEASE + ms(listener, taken)) + " ms before the lease counted from the listener ends");
        client.shutdown(0, 0, TimeUnit.SECONDS);
        direct.shutdown(0, 0, TimeUnit.SECONDS);
    }

    public static void main(String[] args) throws Exception {
        for (int others : new int[] {0, 50_000, 50_000}) round(Integer.parseInt(args[0]), others);
        System.exit(0);
    }
}
JAVA
said=$(java -cp "$home/lib/*" "$home/Told.java" "$port" 2>"$home/log") || { tail "$home/log"; exit 1; }
echo "$said"
[ "$(grep -c " others: OK, told after it was written again" <<<"$said")" = 3 ] &&
    grep -q "^50000 others.* listener [1-9][0-9]* ms after the server had it; a rival had it [1-9][0-9]* ms before" <<<"$said" ||
    { echo "the behaviour has changed"; exit 1; }
