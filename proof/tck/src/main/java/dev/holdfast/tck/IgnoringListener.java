package dev.holdfast.tck;

import dev.holdfast.spi.Grant;
import dev.holdfast.spi.StoreListener;

/** A listener that does nothing; a test overrides the one report that it waits for. */
public class IgnoringListener implements StoreListener {
    @Override
    public void lost(Grant grant) {}

    @Override
    public void suspect(Grant grant) {}
}
