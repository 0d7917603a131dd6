package dev.holdfast.testbed;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.time.Duration;
import java.util.Base64;
import java.util.List;

/**
 * A certificate of a server and its key, as files in PEM: for servers that speak TLS, and for clients that are to trust
 * them, or not. Immutable.
 *
 * <pre>{@code
 * Certificate own = Certificate.selfSigned(folder, "own", "ip:127.0.0.1");
 * RedisServer.startInstalled(Map.of(), "--tls-port", port, "--tls-cert-file", own.file().toString(), …);
 * }</pre>
 *
 * @param file the certificate; being its own issuer, it is also what a client trusts
 * @param key the private key
 */
public record Certificate(Path file, Path key) {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final String PASSWORD = "changeit";

    /**
     * Makes one with the JDK's keytool.
     *
     * @param name of the files, and of the subject
     * @param address for which server it is good, as {@code ip:127.0.0.1} or {@code dns:example.org}
     */
    public static Certificate selfSigned(Path folder, String name, String address) {
        Path store = folder.resolve(name + ".p12");
        Setup.run(
                new ServerHome(folder, List.of()),
                PATIENCE,
                List.of(
                        Path.of(System.getProperty("java.home"), "bin", "keytool")
                                .toString(),
                        "-genkeypair",
                        "-alias",
                        name,
                        "-keyalg",
                        "EC",
                        "-dname",
                        "CN=" + name,
                        "-ext",
                        "san=" + address,
                        "-keystore",
                        store.toString(),
                        "-storetype",
                        "PKCS12",
                        "-storepass",
                        PASSWORD));
        try (InputStream bytes = Files.newInputStream(store)) {
            KeyStore keys = KeyStore.getInstance("PKCS12");
            keys.load(bytes, PASSWORD.toCharArray());
            return new Certificate(
                    pem(
                            folder.resolve(name + ".pem"),
                            "CERTIFICATE",
                            keys.getCertificate(name).getEncoded()),
                    pem(
                            folder.resolve(name + ".key"),
                            "PRIVATE KEY",
                            keys.getKey(name, PASSWORD.toCharArray()).getEncoded()));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("keytool made what the JDK cannot read", e);
        }
    }

    private static Path pem(Path file, String kind, byte[] content) throws IOException {
        String lines = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(content);
        return Files.writeString(
                file,
                "-----BEGIN " + kind + "-----\n" + lines + "\n-----END " + kind + "-----\n",
                StandardCharsets.US_ASCII);
    }
}
