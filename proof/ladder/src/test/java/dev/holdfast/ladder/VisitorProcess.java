package dev.holdfast.ladder;

import dev.holdfast.testbed.ChildJvm;
import dev.holdfast.testbed.ChildProcess;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

/**
 * A {@link Visitor} in a process of its own, to stop and to kill. Told {@code enter} and {@code leave}, it says {@code
 * ready}, {@code inside TOKEN}, {@code writes TOKEN} just before it leaves, and {@code left}, {@code refused} or {@code
 * told: EXCEPTION} at the end.
 */
public final class VisitorProcess implements AutoCloseable {
    private final ChildProcess process;

    private VisitorProcess(ChildProcess process) {
        this.process = process;
    }

    /** Starts it; it has connected to the store when this returns. */
    public static VisitorProcess start(Class<? extends Rung> rung, String url, String name) {
        ChildProcess process =
                ChildJvm.main(Main.class).args(rung.getName(), url, name).start();
        process.expect("ready", Visitor.PATIENCE);
        return new VisitorProcess(process);
    }

    /** It is to come; does not wait for what becomes of that. */
    public VisitorProcess enters() {
        process.send("enter");
        return this;
    }

    /** Waits until its work has begun. */
    public VisitorProcess awaitInside() {
        process.expect("inside", Visitor.PATIENCE);
        return this;
    }

    /** Its work ends: it writes, and tells the token with which it does. */
    public long writes() {
        process.send("leave");
        return Long.parseLong(process.expect("writes ", Visitor.PATIENCE).substring("writes ".length()));
    }

    /** Waits for the end of it all, and tells what it was told: nothing, or the name of an exception. */
    public String awaitEnd() {
        return process.expect(line -> line.equals("left") || line.startsWith("told: "), Visitor.PATIENCE)
                .replaceFirst("^(left|told: )", "");
    }

    /** Stops all its threads, as a long pause of the collector does, or a closed lid. */
    public void stop() {
        process.stop();
    }

    /** It goes on as if nothing had been. */
    public void cont() {
        process.cont();
    }

    /** Ends it as a power cut does. */
    public void kill() {
        process.kill();
    }

    @Override
    public void close() {
        process.close();
    }

    /** What runs in the process. */
    static final class Main {
        private Main() {}

        public static void main(String[] args) throws ReflectiveOperationException {
            BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
            try (Rung rung = Class.forName(args[0])
                    .asSubclass(Rung.class)
                    .getConstructor(String.class)
                    .newInstance(args[1])) {
                System.out.println("ready");
                await(in);
                boolean done = rung.run(args[2], token -> {
                    System.out.println("inside " + token);
                    await(in);
                    System.out.println("writes " + token);
                });
                System.out.println(done ? "left" : "refused");
            } catch (RuntimeException e) {
                System.out.println("told: " + e.getClass().getSimpleName());
            }
        }

        private static void await(BufferedReader in) {
            try {
                if (in.readLine() == null) {
                    throw new IllegalStateException("left alone");
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }
}
