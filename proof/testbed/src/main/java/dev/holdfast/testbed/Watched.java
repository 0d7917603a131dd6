package dev.holdfast.testbed;

import java.util.Map;

/** One kind of thing that can be left behind. */
interface Watched {
    /** What one of them is called in a message. */
    String name();

    /** All that are there now: a key that tells one from another, and a description of it. */
    Map<String, String> present();
}
