package dev.holdfast.spring.boot;

import com.sun.net.httpserver.HttpServer;
import dev.holdfast.Hold;
import dev.holdfast.spring.HoldLock;
import dev.holdfast.spring.LockNotAcquiredException;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** A small application for {@link TwoServersTest}: what a new project has, and pages that hold a lock. */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration
class Till {
    public static void main(String[] args) {
        SpringApplication.run(Till.class, args);
        System.out.println("ready");
    }

    @Bean
    Register register() {
        return new Register();
    }

    @Bean(destroyMethod = "")
    HttpServer pages(@Value("${till.port}") int port, Register register) throws IOException {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0);
        server.setExecutor(Executors.newCachedThreadPool());
        page(server, "/charge", () -> register.charge(null));
        page(server, "/hold", () -> register.hold(null));
        page(server, "/try", () -> register.tryToCharge(null));
        page(server, "/leave", register::leave);
        server.start();
        return server;
    }

    private static void page(HttpServer server, String path, java.util.concurrent.Callable<Long> answer) {
        server.createContext(path, exchange -> {
            int status = 200;
            String text;
            try {
                text = String.valueOf(answer.call());
            } catch (LockNotAcquiredException busy) {
                status = 409;
                text = busy.getMessage();
            } catch (Exception failed) {
                status = 500;
                text = failed.toString();
            }
            byte[] body = text.getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(status, body.length);
            try (OutputStream out = exchange.getResponseBody()) {
                out.write(body);
            }
        });
    }

    /** The work; each method answers with its fencing token. */
    static class Register {
        private final CountDownLatch mayLeave = new CountDownLatch(1);

        @HoldLock("till")
        public Long charge(Hold hold) {
            return hold.token();
        }

        @HoldLock(name = "till", waitTime = "0s")
        public Long tryToCharge(Hold hold) {
            return hold.token();
        }

        @HoldLock("till")
        public Long hold(Hold hold) throws InterruptedException {
            System.out.println("holding " + hold.token());
            mayLeave.await();
            return hold.token();
        }

        public Long leave() {
            mayLeave.countDown();
            return 0L;
        }
    }
}
