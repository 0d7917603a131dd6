/** Ready-made solutions on top of locks, on the public API alone. */
@SuppressWarnings("requires-automatic") // cron-utils describes no module, and only its name is fixed
module dev.holdfast.recipes {
    requires transitive dev.holdfast.core;
    requires static com.cronutils;
    requires static transitive org.jspecify;

    exports dev.holdfast.recipes;
}
