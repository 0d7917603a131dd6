/** For an application's own tests: what its code does when a lock is lost, without a server and without waiting. */
module dev.holdfast.testkit {
    requires transitive dev.holdfast.core;
    requires static transitive org.junit.jupiter.api;
    requires static transitive org.jspecify;

    exports dev.holdfast.testkit;
}
