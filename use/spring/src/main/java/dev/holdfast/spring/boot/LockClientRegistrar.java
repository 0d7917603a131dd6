package dev.holdfast.spring.boot;

import dev.holdfast.LockClient;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.ImportBeanDefinitionRegistrar;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotationMetadata;

/**
 * One bean for each client that the properties name: {@code lockClient}, which is primary, and {@code NAMELockClient}
 * for each {@code holdfast.clients.NAME}.
 */
final class LockClientRegistrar implements ImportBeanDefinitionRegistrar {
    /** The bean of the client without a name. */
    static final String UNNAMED = "lockClient";

    /** Attribute of the clients whose locks are in no database. */
    static final String LOCKS_ELSEWHERE = LockClientRegistrar.class.getName() + ".elsewhere";

    private final Environment environment;

    LockClientRegistrar(Environment environment) {
        this.environment = environment;
    }

    @Override
    public void registerBeanDefinitions(AnnotationMetadata importing, BeanDefinitionRegistry registry) {
        HoldfastProperties properties =
                Binder.get(environment).bindOrCreate("holdfast", Bindable.of(HoldfastProperties.class));
        if (properties.hasUnnamed()) {
            RootBeanDefinition unnamed = definition("", properties.unnamed());
            unnamed.setPrimary(true);
            registry.registerBeanDefinition(UNNAMED, unnamed);
        }
        String lost = properties.hasUnnamed() ? null : properties.settingOfTheUnnamed();
        if (lost != null) {
            throw new ClientNotMadeException(
                    "holdfast." + lost + " is set, but every client has a name, so no client uses it.",
                    "Set holdfast.clients.NAME." + lost
                            + " in its place, or holdfast.store for a client without a name.");
        }
        properties
                .clients()
                .forEach((name, settings) ->
                        registry.registerBeanDefinition(name + "LockClient", definition(name, settings)));
    }

    private static RootBeanDefinition definition(String name, ClientSettings settings) {
        RootBeanDefinition client = new RootBeanDefinition(LockClient.class);
        client.setFactoryBeanName(LockClientMaker.BEAN_NAME);
        client.setFactoryMethodName("make");
        client.getConstructorArgumentValues().addIndexedArgumentValue(0, name);
        client.setDestroyMethodName("close");
        client.setRole(BeanDefinition.ROLE_APPLICATION);
        if (!settings.mayUseDatabase()) {
            client.setAttribute(LOCKS_ELSEWHERE, true);
        }
        return client;
    }
}
