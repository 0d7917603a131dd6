#!/usr/bin/env bash
# etcd 3.4.23 (Debian's etcd-server 3.4.23-4+b4): of the transactions that are refused with "database space exceeded", some have been
# carried out.
#
# A good guess: a request that is answered with an error of the server's own, RESOURCE_EXHAUSTED, was refused and did nothing; only a
# missing answer leaves that open.
# Seen: the quota is checked twice. Before a request is proposed, a refusal means that nothing was done. When the request is
# applied, the transaction is carried out first and then answered with the same error. With a few dozen requests under way
# as the quota is
# reached, some of the refused keys are there. (Once the alarm is on, all are refused before.)
# Why a locker cares: a claim that was "refused" may hold the lock, until its lease ends, and no client knows of it. It has
# to be removed as after a lost answer; a deletion takes no space and is still accepted.
# Fails if the behaviour changes. Needs Java 17, Debian's apt-get and dpkg, curl, Linux.
set -euo pipefail
home=$(mktemp -d)
chmod 755 "$home"
trap 'kill -9 "$(cat "$home/pid" 2>/dev/null)" 2>/dev/null; sleep 0.5; rm -rf "$home"' EXIT
(cd "$home" && apt-get -qq download etcd-server=3.4.23-4+b4 2>/dev/null && dpkg -x etcd-server_*.deb .)
base=$((20000 + RANDOM % 10000))
url="http://127.0.0.1:$base"
"$home/usr/bin/etcd" --data-dir "$home/data" --quota-backend-bytes 3000000 --listen-client-urls "$url" --advertise-client-urls "$url" \
    --listen-peer-urls "http://127.0.0.1:$((base + 1))" >"$home/log" 2>&1 &
echo $! >"$home/pid"
disown
until curl -sS -m 2 "$url/v3/kv/range" -d '{"key":"YQ=="}' 2>/dev/null | grep -q revision; do sleep 0.2; done
cat >"$home/Space.java" <<'JAVA'
import static java.nio.charset.StandardCharsets.UTF_8;

import java.net.URI;
import java.net.http.*;
import java.util.*;
import java.util.concurrent.CompletableFuture;

/** URL: makes keys, 32 at a time, until some are refused; then asks which of the refused ones are there. */
public class Space {
    static final HttpClient CLIENT = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    static String url;

    static CompletableFuture<String> ask(String what, String body) {
        HttpRequest request = HttpRequest.newBuilder(URI.create(url + what)).POST(HttpRequest.BodyPublishers.ofString(body)).build();
        return CLIENT.sendAsync(request, HttpResponse.BodyHandlers.ofString()).thenApply(HttpResponse::body);
    }

    static String encoded(String text) {
        return Base64.getEncoder().encodeToString(text.getBytes(UTF_8));
    }

    public static void main(String[] args) {
        url = args[0];
        String value = encoded("v".repeat(20_000));
        Map<String, CompletableFuture<String>> sent = new LinkedHashMap<>();
        List<String> refused = new ArrayList<>();
        while (refused.isEmpty()) {
            sent.clear();
            for (int i = 0; i < 32; i++) {
                String key = encoded(UUID.randomUUID().toString());
                sent.put(key, ask("/v3/kv/txn", "{\"compare\":[{\"key\":\"" + key + "\",\"target\":\"CREATE\",\"create_revision\":\"0\"}],"
                        + "\"success\":[{\"requestPut\":{\"key\":\"" + key + "\",\"value\":\"" + value + "\"}}]}"));
            }
            sent.forEach((key, answer) -> {
                if (answer.join().contains("database space exceeded")) refused.add(key);
            });
        }
        long there = refused.stream()
                .filter(key -> ask("/v3/kv/range", "{\"key\":\"" + key + "\",\"count_only\":true}").join().contains("\"count\":\"1\""))
                .count();
        long before = refused.size();
        refused.forEach(key -> ask("/v3/kv/deleterange", "{\"key\":\"" + key + "\"}").join());
        long left = refused.stream()
                .filter(key -> ask("/v3/kv/range", "{\"key\":\"" + key + "\",\"count_only\":true}").join().contains("\"count\":\"1\""))
                .count();
        System.out.println("refused for want of space: " + before + "; of these carried out: " + there + "; left after deletion: " + left);
    }
}
JAVA
said=$(java "$home/Space.java" "$url")
echo "$said"
[[ $said =~ "carried out: "[1-9] && $said =~ "left after deletion: 0" ]] || { echo "the behaviour has changed"; exit 1; }
