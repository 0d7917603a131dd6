package dev.holdfast.etcd;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.etcd.jetcd.KeyValue;
import io.etcd.jetcd.kv.GetResponse;
import io.etcd.jetcd.op.Cmp;
import io.etcd.jetcd.op.CmpTarget;
import io.etcd.jetcd.op.Op;
import io.etcd.jetcd.options.GetOption;
import io.etcd.jetcd.options.PutOption;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** The version of what is kept in etcd, in a key of its own. */
record Layout(Requests requests, Keys keys, Errors errors) {
    private static final int VERSION = 1;
    private static final String SAYS = "holdfast " + VERSION;

    /** Writes the version where there is nothing yet; refuses what a newer Holdfast or another program wrote. */
    CompletableFuture<Void> prepare() {
        Op first = Op.get(
                Keys.bytes(keys.root()),
                GetOption.builder()
                        .isPrefix(true)
                        .withKeysOnly(true)
                        .withLimit(1)
                        .build());
        return requests.first(List.of(Op.get(keys.layout(), GetOption.DEFAULT), first))
                .thenCompose(read -> {
                    List<GetResponse> both = read.getGetResponses();
                    List<KeyValue> layout = both.get(0).getKvs();
                    if (!layout.isEmpty()) {
                        check(layout.get(0).getValue().toString(UTF_8));
                        return CompletableFuture.<Void>completedFuture(null);
                    }
                    for (KeyValue any : both.get(1).getKvs()) {
                        String key = any.getKey().toString(UTF_8);
                        if (!key.startsWith(keys.root() + "fences/")) { // which may be there first
                            throw foreign(key);
                        }
                    }
                    return requests.txn(
                                    List.of(new Cmp(keys.layout(), Cmp.Op.EQUAL, CmpTarget.version(0))),
                                    List.of(Op.put(keys.layout(), Keys.bytes(SAYS), PutOption.DEFAULT)),
                                    List.of())
                            .thenCompose(put -> put.isSucceeded()
                                    ? CompletableFuture.<Void>completedFuture(null)
                                    : prepare()); // another client was first
                });
    }

    private void check(String says) {
        if (!says.matches("holdfast \\d{1,9}")) {
            throw foreign(keys.root() + "layout");
        }
        int version = Integer.parseInt(says.substring(says.indexOf(' ') + 1));
        if (version > VERSION) {
            throw errors.refused(
                    "is laid out in version " + version + " by a newer Holdfast, and this one knows " + VERSION
                            + ": upgrade",
                    null);
        }
    }

    private RuntimeException foreign(String key) {
        return errors.refused(
                "has a key " + key + " that is not Holdfast's: put another prefix into the URL, or remove it", null);
    }
}
