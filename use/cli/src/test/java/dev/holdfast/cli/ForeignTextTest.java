package dev.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Hold;
import dev.holdfast.LockClient;
import dev.holdfast.testbed.ChildProcess;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Text that others wrote, in arguments or in the store: it breaks no command, and commands no terminal. */
@Tag("thorough")
class ForeignTextTest extends OnOwnStore {
    /** Colour, the C1 form of the same, backwards, invisible, an end of line of Unicode. */
    private static final String EVIL = "a\u001b[31mb\u009b1mc\u202ed\u2066e\u200bf\u2028g";

    @Test
    void aCommandMayHaveAnyCharactersInItsArguments() {
        for (String argument :
                new String[] {"\uD83D\uDE00".repeat(50), "\u0085\u009b".repeat(20), EVIL, "x".repeat(300)}) {
            Cli.Ended ended = cli.run("run", "job", "--", "echo", "-n", argument);

            assertThat(ended.code()).as(ended.toString()).isZero();
            assertThat(ended.err()).isEmpty();
        }
    }

    @Test
    void theScriptTakesThemToo() {
        Cli.Ended ended = Cli.end(cli.script("run", "job", "--", "echo", "\uD83D\uDE00".repeat(50))
                .start());

        assertThat(ended).isEqualTo(new Cli.Ended(0, List.of("\uD83D\uDE00".repeat(50)), List.of()));
    }

    @Test
    void nothingFromTheStoreReachesATerminalAsItIs() throws InterruptedException {
        try (LockClient client = cli.client();
                Hold hold = client.lock("job").acquire()) {
            assertThat(hold.isValid()).isTrue();
            String text = "'" + EVIL + "'";
            Database.run(
                    "jdbc:sqlite:" + cli.file("locks.db"),
                    "UPDATE holdfast_lock SET label = " + text + ", host = " + text);
            assertPlain(cli.run("list"), "a?[31mb?1mc?d?e?f");
            assertPlain(cli.run("list", "--json"), "a\\u001b[31mb\\u009b1mc\\u202ed");
            assertPlain(cli.run("run", "--wait", "0", "job", "--", "true"), "held by a?[31mb");
            ChildProcess question = Pseudoterminal.holdfast(cli, "release", "job");
            question.expect(line -> line.contains("held by"), Cli.SOON);
            question.send("n");
            assertPlain(Cli.end(question), "held by a?[31mb");
        }
    }

    private static void assertPlain(Cli.Ended ended, String shown) {
        assertThat(Stream.concat(ended.out().stream(), ended.err().stream()))
                .anyMatch(line -> line.contains(shown))
                .noneMatch(line -> line.codePoints().anyMatch(ForeignTextTest::commands));
    }

    private static boolean commands(int character) {
        return character != '\r'
                && (Character.isISOControl(character)
                        || Character.getType(character) == Character.FORMAT
                        || Character.getType(character) == Character.LINE_SEPARATOR);
    }
}
