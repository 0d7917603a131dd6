package dev.holdfast.spring.boot;

import dev.holdfast.HoldfastException;
import dev.holdfast.LockClient;
import dev.holdfast.LockListener;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.StoreFactory;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.stream.Collectors;
import org.springframework.beans.factory.BeanNotOfRequiredTypeException;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.NoSuchBeanDefinitionException;

/** Makes the lock clients from the properties and from the beans of the application. */
final class LockClientMaker {
    /** The bean definitions of clients name it. */
    static final String BEAN_NAME = "holdfastLockClientMaker";

    private final HoldfastProperties properties;
    private final ListableBeanFactory beans;

    LockClientMaker(HoldfastProperties properties, ListableBeanFactory beans) {
        this.properties = properties;
        this.beans = beans;
    }

    /**
     * Makes one client; called for the bean definitions of {@link LockClientRegistrar}.
     *
     * @param name as in {@code holdfast.clients.NAME}; empty for the client without a name
     */
    LockClient make(String name) {
        String prefix = name.isEmpty() ? "holdfast" : "holdfast.clients." + name;
        ClientSettings settings =
                name.isEmpty() ? properties.unnamed() : properties.clients().get(name);
        if (settings == null) {
            throw new ClientNotMadeException("There is no client '" + name + "'.", "Set " + prefix + ".store.");
        }
        try {
            return build(settings, prefix);
        } catch (ClientNotMadeException explained) {
            throw explained;
        } catch (StoreUnavailableException away) {
            throw new ClientNotMadeException(
                    sentence(away),
                    "Start the store, or correct " + prefix + ".store. To start without it, set " + prefix
                            + ".connect-lazily=true.",
                    away);
        } catch (HoldfastException | IllegalArgumentException | IllegalStateException refused) {
            throw new ClientNotMadeException(sentence(refused), "Correct " + prefix + ".*.", refused);
        }
    }

    private LockClient build(ClientSettings settings, String prefix) {
        var builder = settings.store() == null
                ? LockClient.builder(ofTheApplication(settings, prefix))
                : LockClient.builder(settings.store());
        builder.connectLazily(settings.connectLazily());
        if (settings.password() != null) {
            builder.password(settings.password());
        }
        if (settings.namespace() != null) {
            builder.namespace(settings.namespace());
        }
        if (settings.label() != null) {
            builder.label(settings.label());
        }
        if (settings.outageLimit() != null) {
            builder.outageLimit(settings.outageLimit());
        }
        if (settings.session() != null) {
            builder.session(settings.session());
        }
        if (settings.executor() != null) {
            builder.executor(executor(settings.executor(), prefix));
        }
        beans.getBeanProvider(LockListener.class).orderedStream().forEach(builder::listener);
        return builder.build();
    }

    private Executor executor(String bean, String prefix) {
        try {
            return beans.getBean(bean, Executor.class);
        } catch (NoSuchBeanDefinitionException | BeanNotOfRequiredTypeException wrong) {
            throw new ClientNotMadeException(
                    "The application has no Executor named '" + bean + "', which should complete the futures of locks.",
                    "Set " + prefix + ".executor to the name of a bean that is an Executor, or remove it.",
                    wrong);
        }
    }

    /** The store on a bean of the application; a {@link StoreFactory} of its own goes before all others. */
    private StoreFactory ofTheApplication(ClientSettings settings, String prefix) {
        StoreFactory own = beans.getBeanProvider(StoreFactory.class).getIfUnique();
        return own == null ? chosen(settings, prefix).factory(beans) : own;
    }

    private StoreBean chosen(ClientSettings settings, String prefix) {
        StoreBean wanted = settings.use();
        List<StoreBean> present = Arrays.stream(StoreBean.values())
                .filter(kind -> wanted == null || kind == wanted)
                .filter(kind -> kind.isIn(beans))
                .toList();
        List<StoreBean> usable = present.stream().filter(StoreBean::hasModule).toList();
        if (usable.size() == 1) {
            return usable.get(0);
        }
        if (usable.size() > 1) {
            throw new ClientNotMadeException(
                    "The application has more than one bean that can keep locks: " + titles(usable) + ".",
                    "Set " + prefix + ".use to "
                            + usable.stream().map(StoreBean::property).collect(Collectors.joining(" or "))
                            + ", or set " + prefix + ".store to a URL.");
        }
        if (!present.isEmpty()) {
            throw new ClientNotMadeException(
                    "No store is set for locks, and the module that keeps them in the application's " + titles(present)
                            + " is not on the class path.",
                    "Add "
                            + present.stream().map(StoreBean::artifact).collect(Collectors.joining(" or "))
                            + ", or set " + prefix + ".store to a URL.");
        }
        throw new ClientNotMadeException(
                wanted == null
                        ? "No store is set for locks, and the application has no DataSource, RedisConnectionFactory,"
                                + " CuratorFramework, jetcd Client or MemcachedClient to keep them in."
                        : "Locks should be kept in the application's " + wanted.title() + ", and it has none.",
                "Set " + prefix + ".store to a URL, such as sqlite:locks.db (with dev.holdfast:holdfast-sqlite),"
                        + " jdbc:postgresql://HOST/DATABASE (holdfast-jdbc), redis://HOST:6379 (holdfast-redis),"
                        + " zk://HOST:2181 (holdfast-zookeeper), etcd://HOST:2379 (holdfast-etcd) or"
                        + " memcached://HOST:11211 (holdfast-memcached).");
    }

    private static String titles(List<StoreBean> kinds) {
        return kinds.stream().map(StoreBean::title).collect(Collectors.joining(", "));
    }

    private static String sentence(Exception failure) {
        return "The locks' store cannot be used: " + failure.getMessage() + ".";
    }
}
