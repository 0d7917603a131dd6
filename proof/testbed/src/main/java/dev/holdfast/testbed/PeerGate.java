package dev.holdfast.testbed;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A proxy before the peer port of one etcd member, which tells its connections apart by the member that opened them, as the
 * head of its first request says: all members advertise one address to all others, and messages pass both ways on a
 * connection whichever side opened it. Thread-safe.
 */
final class PeerGate implements AutoCloseable {
    private static final Pattern FROM = Pattern.compile("(?i)\\r\\nx-server-from: ([0-9a-f]+)\\r\\n");
    private static final int LONGEST_HEAD = 16_384;

    private final ServerSocket socket;
    private final int target;
    private final Map<Socket, String> open = new ConcurrentHashMap<>();
    private final Set<Socket> held = ConcurrentHashMap.newKeySet();
    /** Whose connections are held; all for the empty one. */
    private volatile @Nullable String whose;

    private PeerGate(ServerSocket socket, int target) {
        this.socket = socket;
        this.target = target;
    }

    static PeerGate to(int port) {
        try {
            PeerGate gate =
                    new PeerGate(new ServerSocket(0, 50, InetAddress.getByAddress(new byte[] {127, 0, 0, 1})), port);
            gate.inBackground(gate::accept);
            return gate;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    int port() {
        return socket.getLocalPort();
    }

    /** Cuts the connections of a member, by its id in hexadecimal digits, or all; new ones are accepted and go nowhere. */
    void hold(String from) {
        whose = from;
        open.forEach((each, opener) -> {
            if (from.isEmpty() || from.equals(opener)) {
                close(each);
            }
        });
    }

    void open() {
        whose = null;
        held.forEach(PeerGate::close);
        held.clear();
    }

    @Override
    public void close() {
        close(socket);
        open.keySet().forEach(PeerGate::close);
        held.forEach(PeerGate::close);
    }

    private void accept() throws IOException {
        while (true) {
            Socket client = socket.accept();
            inBackground(() -> pass(client));
        }
    }

    private void pass(Socket client) throws IOException {
        byte[] head = head(client.getInputStream());
        Matcher named = FROM.matcher(new String(head, StandardCharsets.ISO_8859_1));
        String from = named.find() ? named.group(1) : "";
        open.put(client, from);
        if (isHeld(from)) {
            held.add(client);
            return;
        }
        try (client;
                Socket server = new Socket(InetAddress.getByAddress(new byte[] {127, 0, 0, 1}), target)) {
            client.setTcpNoDelay(true); // as the members' own: no message waits until the one before is acknowledged
            server.setTcpNoDelay(true);
            server.getOutputStream().write(head);
            inBackground(() -> {
                try (client;
                        server) {
                    copy(client, server);
                }
            });
            copy(server, client);
        } finally {
            open.remove(client);
        }
    }

    private boolean isHeld(String from) {
        String now = whose;
        return now != null && (now.isEmpty() || now.equals(from));
    }

    private static void copy(Socket from, Socket to) throws IOException {
        OutputStream out = to.getOutputStream();
        byte[] buffer = new byte[8_192];
        InputStream in = from.getInputStream();
        for (int count = in.read(buffer); count >= 0; count = in.read(buffer)) {
            out.write(buffer, 0, count);
        }
    }

    /** Up to the end of the first request's head. */
    private static byte[] head(InputStream in) throws IOException {
        byte[] head = new byte[LONGEST_HEAD];
        int length = 0;
        while (length < 4
                || head[length - 1] != '\n'
                || head[length - 2] != '\r'
                || head[length - 3] != '\n'
                || head[length - 4] != '\r') {
            int next = in.read();
            if (next < 0 || length == LONGEST_HEAD) {
                break;
            }
            head[length++] = (byte) next;
        }
        return java.util.Arrays.copyOf(head, length);
    }

    private interface Task {
        void run() throws IOException;
    }

    private void inBackground(Task task) {
        Thread thread = new Thread(
                () -> {
                    try {
                        task.run();
                    } catch (IOException ended) {
                        // of this connection, or of the gate
                    }
                },
                "testbed-peer-gate-" + target);
        thread.setDaemon(true);
        thread.start();
    }

    private static void close(java.io.Closeable each) {
        try {
            each.close();
        } catch (IOException gone) {
            // the same
        }
    }
}
