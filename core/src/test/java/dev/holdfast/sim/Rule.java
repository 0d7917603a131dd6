package dev.holdfast.sim;

/** What must hold in every schedule: the guarantees of the engine as far as they can be seen from outside. */
enum Rule {
    EXCLUSION("holds believed valid never conflict: nobody beside a writer, no more permits than there are"),
    STANDING("a hold believed valid stands in the store"),
    TOKENS("tokens rise from hold to conflicting hold and are fixed in each"),
    LOSS_TOLD("a loss is told, once, to the hold and to the client, and only a loss"),
    LOSS_FIRST("a loss is told before a rival's hold begins"),
    CLOSE_SAYS("close throws exactly when the hold was lost"),
    RELEASE("a release frees its own grant and no other, and only when nobody holds by it"),
    RENEWAL("a renewal moves only a lease that stands, and is its own"),
    GRANTS("the store grants nothing that conflicts, and with numbers that rise"),
    RENEWAL_STOPS("nothing is renewed after its release, beyond its maximum hold time, or when nobody can close it"),
    RE_ENTRY("a thread enters again what it surely holds, and nothing else"),
    BUSY("who is told that others have a name is told what is so, and by a store that answers"),
    EXACT("status, list and break say what is so, and who only asks changes nothing"),
    NO_MUTEX("the store is not called while a mutex is held"),
    ONE_CLAIM("one claim that waits per client, name and kind"),
    HAND_OVER("hand-over keeps its bounds: number, time, lease left, strict FIFO"),
    JOINING("readers come in only while they may: no writer came before, and the store was asked in time"),
    ALL_OR_NONE("several names are held at one moment, or none of them"),
    FIFO("waiters of one client are served in the order they came"),
    PROGRESS("once the faults have ended, a name that those who wait could hold is granted within five leases"),
    LEFTOVERS("once the faults have ended, what no caller wants any more is gone from the store within one lease"),
    LIVENESS("when the faults have stopped every caller is served or told"),
    NOTHING_LEFT("in the end nothing is left in the store or the client"),
    NO_SURPRISE("no exception but those that are promised");

    final String text;

    Rule(String text) {
        this.text = text;
    }
}
