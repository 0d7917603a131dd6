package dev.holdfast.internal;

import dev.holdfast.Loss;
import dev.holdfast.spi.TimeSource;
import java.time.Duration;

/** Tells the outside what happens to holds: flight recorder, log, listeners. */
final class Observer {

    private final Teller teller;
    private final TimeSource time;

    Observer(Teller teller, TimeSource time) {
        this.teller = teller;
        this.time = time;
    }

    void acquired(LiveHold hold, long since) {
        if (teller.hasListeners()) {
            Duration waited = Duration.ofNanos(hold.since - since);
            teller.tellAll(listener -> listener.onAcquired(hold.name, hold.token, waited));
        }
    }

    void released(LiveHold hold) {
        Events.Held event = hold.event();
        if (event != null && event.shouldCommit()) {
            event.lock = hold.name;
            event.token = hold.token;
            event.handedOver = hold.token % Tokens.BLOCK != 0;
            event.commit();
        }
        if (teller.hasListeners()) {
            Duration held = Duration.ofNanos(time.nanoTime() - hold.since);
            teller.tellAll(listener -> listener.onReleased(hold.name, hold.token, held));
        }
    }

    /** A hold was lost while open. */
    void lost(LiveHold hold) {
        tell(hold.loss());
        HoldAnchor anchor = hold.anchor();
        if (anchor != null) {
            anchor.tellLoss();
        }
    }

    /** The store had no such grant any more when it was released: the hold was lost before it was closed. */
    void lostUnnoticed(LiveHold hold, Loss loss) {
        hold.lostUnnoticed(loss);
        lost(hold);
    }

    private void tell(Loss loss) {
        if (Events.areRecorded()) {
            Events.Lost event = new Events.Lost();
            event.lock = loss.name();
            event.token = loss.token();
            event.cause = loss.cause().name();
            event.commit();
        }
        Log.warn(loss::message);
        teller.tellAll(listener -> listener.onLost(loss));
    }
}
