package dev.holdfast.testbed;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ServerMissingExceptionTest {
    @Test
    void itSaysWhatWasLookedForAndHowToGetIt() {
        ServerMissingException missing =
                new ServerMissingException("etcd", "etcd in /bin", "apt-get install etcd-server");
        assertThat(missing)
                .hasMessageContaining("etcd is missing")
                .hasMessageContaining("etcd in /bin")
                .hasMessageContaining("apt-get install etcd-server");
        assertThat(missing.server()).isEqualTo("etcd");
    }

    @Test
    void itIsAFailureInCiOnly() {
        boolean ci = "true".equals(System.getenv("CI"));
        assertThat(new ServerMissingException("etcd", "", "").isFailure()).isEqualTo(ci);
        assertThat(new ServerMissingException("etcd", "", "", true).isFailure()).isTrue();
        assertThat(new ServerMissingException("etcd", "", "", false).isFailure())
                .isFalse();
    }
}
