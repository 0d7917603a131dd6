package dev.holdfast.spring;

import dev.holdfast.spring.boot.HoldfastAutoConfiguration;
import dev.holdfast.spring.boot.HoldfastProperties;
import java.util.stream.Stream;
import org.springframework.aop.Advisor;
import org.springframework.aop.config.AopConfigUtils;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.ImportBeanDefinitionRegistrar;
import org.springframework.context.annotation.Role;
import org.springframework.core.type.AnnotationMetadata;

/** {@link HoldLock}, {@link Once} and {@link LeaderOnly} on the methods of beans. */
@AutoConfiguration(after = HoldfastAutoConfiguration.class)
@Import(LockAnnotationsAutoConfiguration.Proxies.class)
@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
public final class LockAnnotationsAutoConfiguration {
    /** For Spring. */
    public LockAnnotationsAutoConfiguration() {}

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static Texts holdfastTexts(ConfigurableListableBeanFactory beans) {
        return new Texts(beans);
    }

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static AnnotatedMethods<HoldLock, HoldLockMethod> holdLockMethods(Texts texts) {
        return new AnnotatedMethods<>(
                HoldLock.class, (type, method, said) -> HoldLockMethod.read(type, method, said, texts));
    }

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static Advisor holdLockAdvisor(
            AnnotatedMethods<HoldLock, HoldLockMethod> holdLockMethods,
            ObjectProvider<LockClients> clients,
            CallsInProgress callsInProgress) {
        return Advisors.of(
                holdLockMethods, new HoldLockInterceptor(holdLockMethods, clients, callsInProgress), Advisors.HOLD);
    }

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static CallsInProgress holdLockCallsInProgress() {
        return new CallsInProgress();
    }

    @Bean
    static StartCheck holdLockStartCheck(
            ConfigurableListableBeanFactory beans,
            AnnotatedMethods<HoldLock, HoldLockMethod> holdLockMethods,
            AnnotatedMethods<Once, OnceMethod> onceMethods,
            AnnotatedMethods<LeaderOnly, LeaderMethod> leaderMethods,
            LockClients clients) {
        return new StartCheck(beans, holdLockMethods, onceMethods, leaderMethods, clients);
    }

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static AnnotatedMethods<Once, OnceMethod> onceMethods(Texts texts) {
        return new AnnotatedMethods<>(Once.class, (type, method, said) -> OnceMethod.read(type, method, said, texts));
    }

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static Advisor onceAdvisor(
            AnnotatedMethods<Once, OnceMethod> onceMethods,
            ObjectProvider<LockClients> clients,
            CallsInProgress callsInProgress) {
        return Advisors.of(onceMethods, new OnceInterceptor(onceMethods, clients, callsInProgress), Advisors.ONCE);
    }

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static AnnotatedMethods<LeaderOnly, LeaderMethod> leaderMethods(Texts texts) {
        return new AnnotatedMethods<>(
                LeaderOnly.class, (type, method, said) -> LeaderMethod.read(type, method, said, texts));
    }

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static Advisor leaderAdvisor(
            AnnotatedMethods<LeaderOnly, LeaderMethod> leaderMethods,
            ObjectProvider<Leaderships> leaderships,
            CallsInProgress callsInProgress) {
        return Advisors.of(
                leaderMethods, new LeaderInterceptor(leaderMethods, leaderships, callsInProgress), Advisors.LEADER);
    }

    @Bean
    static Leaderships holdfastLeaderships(
            LockClients clients,
            HoldfastProperties properties,
            AnnotatedMethods<LeaderOnly, LeaderMethod> leaderMethods,
            ApplicationEventPublisher events) {
        return new Leaderships(
                clients,
                () -> Stream.concat(
                                properties.elections().stream().map(name -> new Leaderships.Election(name, "")),
                                leaderMethods.all().map(LeaderMethod::election))
                        .toList(),
                events);
    }

    /** Proxies for beans, where nothing else of the application asks for them. */
    static final class Proxies implements ImportBeanDefinitionRegistrar {
        @Override
        public void registerBeanDefinitions(AnnotationMetadata importing, BeanDefinitionRegistry registry) {
            AopConfigUtils.registerAutoProxyCreatorIfNecessary(registry);
        }
    }
}
