package dev.holdfast.etcd;

import dev.holdfast.spi.TimeSource;

/** What the parts of one store share. */
record EtcdContext(
        Requests requests,
        Keys keys,
        TimeSource time,
        Errors errors,
        ClaimKeys claimKeys,
        Releases releases,
        HeldClaims held,
        Sessions sessions) {}
