package dev.holdfast.flashsale.node;

import dev.holdfast.LockClient;
import dev.holdfast.flashsale.guard.Faults;
import dev.holdfast.flashsale.guard.Guards;
import dev.holdfast.flashsale.scene.Notes;
import dev.holdfast.flashsale.scene.Stage;
import dev.holdfast.flashsale.shop.Shop;
import dev.holdfast.spring.LockClients;
import io.swagger.v3.oas.annotations.OpenAPIDefinition;
import io.swagger.v3.oas.annotations.info.Info;
import java.io.IOException;
import javax.sql.DataSource;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.web.server.context.WebServerInitializedEvent;
import org.springframework.context.annotation.Bean;
import org.springframework.context.event.EventListener;
import org.springframework.core.env.Environment;

/**
 * A server of the sale, in a process of its own. It says "ready PORT" on its standard output when it serves, and ends
 * when its standard input does: so it never outlives the program that started it.
 */
@OpenAPIDefinition(
        info =
                @Info(
                        title = "The flash sale",
                        version = "1",
                        description = "Got it (201), sold out (409), or too many people (429)."))
@SpringBootApplication(proxyBeanMethods = false)
public class Node {
    /** For Spring. */
    public Node() {}

    /** Runs a server; its settings are properties of Spring Boot. */
    public static void main(String[] arguments) {
        Thread parent = new Thread(Node::endWithTheParent, "parent");
        parent.setDaemon(true);
        parent.start();
        SpringApplication.run(Node.class, arguments);
    }

    private static void endWithTheParent() {
        try {
            System.in.transferTo(java.io.OutputStream.nullOutputStream());
        } catch (IOException e) {
            // its end, too
        }
        Runtime.getRuntime().halt(0); // a store that is away must not keep it
    }

    @Bean
    static Shop shop(DataSource database) {
        return new Shop(database);
    }

    @Bean
    static Faults faults(Environment settings) {
        return new Faults(settings.getRequiredProperty("sale.pause-seconds", Double.class));
    }

    @Bean(destroyMethod = "close")
    static Guards guards(Shop shop, Faults faults, LockClient client, LockClients clients, Environment settings) {
        return new Guards(
                shop,
                faults,
                client,
                clients.options(""),
                settings.getRequiredProperty("holdfast.store"),
                settings.getRequiredProperty("spring.datasource.url"));
    }

    @Bean
    static Stage stage(LockClient client, DataSource database) {
        return new Stage(client, new Notes(database));
    }

    @EventListener
    void say(WebServerInitializedEvent started) {
        System.out.println("ready " + started.getWebServer().getPort());
    }
}
