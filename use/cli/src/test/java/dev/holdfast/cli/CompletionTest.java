package dev.holdfast.cli;

import static dev.holdfast.cli.Cli.SOON;
import static dev.holdfast.testbed.OrSkip.orSkip;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testbed.Binaries;
import dev.holdfast.testbed.ChildProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What the shells make of {@code holdfast completion}. */
class CompletionTest extends OnOwnStore {
    /** By the name of the shell. */
    private static final Map<String, List<String>> SCRIPTS = new ConcurrentHashMap<>();

    @BeforeEach
    void aFileToComplete() throws IOException {
        Files.createFile(cli.file("a-file.txt"));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            ignoreLeadingAndTrailingWhitespace = false,
            value = {
                "holdfast,|run once fence list top why break schema demo completion",
                "holdfast,re|",
                "holdfast,--v|--verbose --version",
                "holdfast,run,--w|--wait",
                "holdfast,run,--wait,|",
                "holdfast,run,-w,|",
                "holdfast,run,-w,3,--max|--max-hold",
                "holdfast,run,--wait,3s,--le|--lease",
                "holdfast,run,--sh|--shared",
                "holdfast,run,--pe|--permits",
                "holdfast,run,--permits,|",
                "holdfast,run,--permits,1/4,--sh|--shared",
                "holdfast,run,job,|--",
                "holdfast,run,job,other,|--",
                "holdfast,run,job,--,./a-|./a-file.txt",
                "holdfast,run,job,--,ls,a-|a-file.txt",
                "holdfast,run,job,--,ls,--wa|",
                "holdfast,fence,job,7,--,ls,a-|a-file.txt",
                "holdfast,--store,|etcd: etcds: jdbc: memcached: quorum: redis: redis-cluster: redis-sentinel: rediss: rediss-cluster: rediss-sentinel: sqlite: zk:",
                "holdfast,--store,sqlite,:,a-|a-file.txt",
                "holdfast,--store,sqlite,:,a-file.txt,li|list",
                "holdfast,--store,=,sqlite,:,a-file.txt,list,--j|--json",
                "holdfast,list,job,|",
                "holdfast,break,--n|--now",
                "holdfast,break,--r|--reason",
                "holdfast,list,--wa|--watch",
                "holdfast,top,--e|--every",
                "holdfast,why,--j|--json",
                "holdfast,schema,|sqlite postgresql mariadb mysql h2",
                "holdfast,completion,|bash zsh fish",
                "holdfast,demo-worker,|",
            })
    void bashIsOfferedWhatFits(String words, String offers) throws IOException {
        String wanted = offers == null ? "" : offers;
        Files.write(cli.file("completion.bash"), completion("bash"));
        String[] typed = words.split(",", -1);
        Cli.Ended ended = Cli.end(cli.shell(
                        "bash",
                        "--norc",
                        "-c",
                        "source ./completion.bash; COMP_WORDS=(\"$@\"); COMP_CWORD=$(( $# - 1 )); _holdfast; "
                                + "echo \"${COMPREPLY[*]}\"",
                        "bash")
                .args(typed)
                .start());

        assertThat(ended.err()).isEmpty();
        assertThat(ended.out()).containsExactly(wanted);
    }

    @Test
    void bashCompletesWhatIsTyped() {
        assertCompletesWhatIsTyped("bash", Path.of("/bin/bash"), List.of("--norc", "--noprofile", "-i"));
    }

    @Test
    void zshCompletesWhatIsTyped() {
        assertCompletesWhatIsTyped("zsh", installed("zsh"), List.of("-f", "-i"));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            ignoreLeadingAndTrailingWhitespace = false,
            value = {
                "holdfast br|break",
                "holdfast run --gr|--grace",
                "holdfast --store sqlite:x li|list",
                "holdfast list --js|--json",
                "holdfast completion z|zsh",
                "holdfast schema maria|mariadb",
                "holdfast run job -- ls a-f|a-file.txt",
                "holdfast run job -- ls --gr|",
            })
    void fishIsOfferedWhatFits(String typed, String offers) throws IOException {
        Path fish = installed("fish");
        Files.write(cli.file("holdfast.fish"), completion("fish"));
        Cli.Ended ended = Cli.end(
                cli.shell(fish.toString(), "--no-config", "-c", "source holdfast.fish; complete -C $argv[1]", typed)
                        .environment("HOME", folder.toString())
                        .start());

        assertThat(ended.err()).isEmpty();
        assertThat(ended.out().stream().map(line -> line.split("\t")[0]).filter(word -> !word.startsWith("--group")))
                .containsExactlyElementsOf(offers == null ? List.of() : List.of(offers));
    }

    @Test
    @Tag("thorough")
    void zshCompletesWithTheFirstTabWhereTheScriptIsOnItsPathOfFunctions() throws IOException {
        Path zsh = installed("zsh");
        Files.write(cli.file("_holdfast"), completion("zsh"));
        ChildProcess terminal = Pseudoterminal.start(cli, "exec " + zsh + " -f -i");
        terminal.send("fpath=($PWD $fpath); autoload -Uz compinit; compinit -u -D; "
                + "holdfast() { echo \"got: $*\"; }; echo ready now");
        terminal.expect("ready now", SOON);
        terminal.send("holdfast li\t--j\t");
        terminal.expect(line -> line.contains("got: list --json"), SOON);
        terminal.send("exit");

        assertThat(Cli.end(terminal).code()).isZero();
    }

    private List<String> completion(String shell) {
        return SCRIPTS.computeIfAbsent(
                shell, name -> cli.run("completion", name).out());
    }

    private static Path installed(String shell) {
        return orSkip(() -> Binaries.onThisMachine().find(shell, "apt-get install " + shell));
    }

    private void assertCompletesWhatIsTyped(String shell, Path program, List<String> arguments) {
        ChildProcess terminal = Pseudoterminal.start(cli, "exec " + program + " " + String.join(" ", arguments));
        terminal.send(
                "eval \"$(\"$HOLDFAST\" completion " + shell + ")\"; holdfast() { echo \"got: $*\"; }; echo ready now");
        terminal.expect("ready now", SOON);
        terminal.send("holdfast li\t--j\t");
        terminal.expect(line -> line.contains("got: list --json"), SOON);
        terminal.send("holdfast run --wai\t3s job \tls a-f\t");
        terminal.expect(line -> line.contains("got: run --wait 3s job -- ls a-file.txt"), SOON);
        terminal.send("exit");

        assertThat(Cli.end(terminal).code()).isZero();
    }
}
