package dev.holdfast.testbed;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.BindException;
import java.net.DatagramSocket;
import java.net.ServerSocket;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

class PortsTest {
    @Test
    void noPortIsGivenTwice() {
        Set<Integer> ports = new HashSet<>();
        for (int i = 0; i < 300; i++) {
            assertThat(ports.add(Ports.free())).isTrue();
        }
    }

    @Test
    void anotherProcessThatAsksSeesThatItIsGivenAway() {
        int port = Ports.free();
        assertThatThrownBy(() -> new DatagramSocket(Loopback.port(port)).close())
                .isInstanceOf(BindException.class);
    }

    @Test
    void aServerCanListenOnIt() throws IOException {
        try (ServerSocket server = new ServerSocket()) {
            server.bind(Loopback.port(Ports.free()));
            assertThat(server.isBound()).isTrue();
        }
    }

    @Test
    void aPortInUseIsNotFree() throws IOException {
        try (ServerSocket server = new ServerSocket(Ports.free())) {
            assertThat(Ports.canBind(server.getLocalPort())).isFalse();
        }
    }
}
