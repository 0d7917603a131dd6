package dev.holdfast.zookeeper;

import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreContext;
import dev.holdfast.tck.StoreContract;
import dev.holdfast.testbed.ServerProcess;
import dev.holdfast.testbed.ZooKeeperEnsemble;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * The contract on three servers, each client at any of them. The longest of the cases that run through the engine, which
 * asks the same of one server as of three, are left to {@link ZooKeeperStoreContractTest}; {@code -Dcontract=whole} runs
 * them here, too.
 */
@ExtendWith(EnsembleContractTest.WhatThreeServersMayChange.class)
class EnsembleContractTest extends StoreContract {
    private static ZooKeeperEnsemble ensemble;

    @BeforeAll
    static void startServers() {
        ensemble = ZooKeeperEnsemble.start(ZooKeeperServers.SETTINGS, ZooKeeperServers.FLAGS);
    }

    @AfterAll
    static void stopServers() {
        if (ensemble != null) {
            ensemble.close();
        }
    }

    @Override
    protected Store open(StoreContext context) {
        return new ZooKeeperStoreProvider().open(url().orElseThrow(), context);
    }

    @Override
    protected Optional<String> url() {
        return Optional.of(ZooKeeperServers.url(ensemble.connectString(), "4s"));
    }

    /** All three stop, with all connections open. */
    @Override
    protected Optional<AutoCloseable> breakStore() {
        List<ServerProcess> servers = IntStream.range(0, 3)
                .mapToObj(each -> ensemble.server(each).process())
                .toList();
        servers.forEach(ServerProcess::stop);
        return Optional.of(() -> servers.forEach(ServerProcess::cont));
    }

    @Override
    protected OptionalLong records() {
        return OptionalLong.of(ZooKeeperServers.figure(ensemble.server(ensemble.leader()), "zk_znode_count"));
    }

    /** Whether a nested class runs. */
    static final class WhatThreeServersMayChange implements ExecutionCondition {
        private static final Set<String> LEFT_OUT = Set.of("Losses", "Holds", "Processes");
        private static final boolean WHOLE = "whole".equals(System.getProperty("contract"));

        @Override
        public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
            boolean leftOut = context.getTestClass()
                    .map(Class::getSimpleName)
                    .filter(LEFT_OUT::contains)
                    .isPresent();
            return leftOut && !WHOLE
                    ? ConditionEvaluationResult.disabled("the same as on one server, and long: -Dcontract=whole")
                    : ConditionEvaluationResult.enabled("three servers may change it");
        }
    }
}
