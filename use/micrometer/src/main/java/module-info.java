/** What the locks of a client do, as Micrometer meters. */
@SuppressWarnings({"requires-automatic", "requires-transitive-automatic"}) // micrometer fixes its name alone
module dev.holdfast.micrometer {
    requires transitive dev.holdfast.core;
    requires transitive micrometer.core;
    requires static transitive org.jspecify;

    exports dev.holdfast.micrometer;
}
