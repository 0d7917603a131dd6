/** Ready-made solutions on top of locks, on the public API alone. */
module dev.holdfast.recipes {
    requires transitive dev.holdfast.core;
    requires static transitive org.jspecify;

    exports dev.holdfast.recipes;
}
