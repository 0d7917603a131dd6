package dev.holdfast.flashsale.node;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.security.MessageDigest;
import java.util.regex.Pattern;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.http.HttpStatus;
import org.springframework.stereotype.Component;

/** Known to the program that has started this server, and to no other. */
@Component
final class Secret {
    private static final Pattern LOOPBACK_HOST = Pattern.compile("(127\\.0\\.0\\.1|localhost|\\[::1])(:\\d+)?");

    private final byte[] secret;

    Secret(@Value("${sale.secret}") String secret) {
        this.secret = secret.getBytes(UTF_8);
    }

    /** Refuses a request of anybody else. */
    void check(String host, String said) {
        if (!LOOPBACK_HOST.matcher(host).matches() || !MessageDigest.isEqual(secret, said.getBytes(UTF_8))) {
            throw new Refusal(HttpStatus.FORBIDDEN, "Only the buttons of the page do this.");
        }
    }
}
