package dev.holdfast.redis;

import dev.holdfast.tck.fuzz.MutationCases;

class RedisMutationTest extends MutationCases {
    RedisMutationTest() {
        super("dev.holdfast.redis.RedisFuzzTest", "stores/redis/src/test/mutations/redis.txt");
    }
}
