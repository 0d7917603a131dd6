package dev.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Which store is used, and where the command line ends and the command begins. */
class ChoiceTest {
    private static final Map<String, String> HOME = Map.of("HOME", "/home/me");

    @Test
    void theOptionComesBeforeTheEnvironmentAndThatBeforeTheDefault() {
        Map<String, String> environment = Map.of("HOME", "/home/me", "HOLDFAST_STORE", "sqlite:b");

        assertThat(StoreUrl.choose("sqlite:a", environment))
                .isEqualTo(new StoreUrl("sqlite:a", StoreUrl.Source.OPTION));
        assertThat(StoreUrl.choose(null, environment)).isEqualTo(new StoreUrl("sqlite:b", StoreUrl.Source.VARIABLE));
        assertThat(StoreUrl.choose(null, HOME))
                .isEqualTo(new StoreUrl("sqlite:/home/me/.local/state/holdfast/locks.db", StoreUrl.Source.DEFAULT));
    }

    @Test
    void theStateFolderCountsWhenItIsAbsolute() {
        assertThat(StoreUrl.choose(null, Map.of("HOME", "/home/me", "XDG_STATE_HOME", "/state"))
                        .value())
                .isEqualTo("sqlite:/state/holdfast/locks.db");
        assertThat(StoreUrl.choose(null, Map.of("HOME", "/home/me", "XDG_STATE_HOME", "state"))
                        .value())
                .isEqualTo("sqlite:/home/me/.local/state/holdfast/locks.db");
    }

    @Test
    void anEmptyVariableIsNoStore() {
        assertThat(StoreUrl.choose(null, Map.of("HOME", "/home/me", "HOLDFAST_STORE", ""))
                        .isDefault())
                .isTrue();
    }

    @Test
    void whatFollowsTheDelimiterOfRunIsTheCommand() {
        assertThat(Arguments.of("--store", "run", "-v", "run", "job", "--", "cmd", "--", "-x"))
                .isEqualTo(new Arguments(List.of("--store", "run", "-v", "run", "job"), List.of("cmd", "--", "-x")));
    }

    @Test
    void otherCommandsHaveNoCommand() {
        assertThat(Arguments.of("--store", "run", "list", "--", "-x"))
                .isEqualTo(new Arguments(List.of("--store", "run", "list", "--", "-x"), List.of()));
        assertThat(Arguments.of("run", "job")).isEqualTo(new Arguments(List.of("run", "job"), List.of()));
    }
}
