# Sourced by the launcher for `holdfast challenge`: with the libraries that it attacks, on a class path of its own.
. "$home/build/tools/launch-module.sh"

challenge_run() {
  build_module proof/challenge "first use: fetches the libraries and servers it attacks" \
    core proof/testbed proof/tck use/recipes proof/ladder proof/bench proof/challenge stores/sqlite stores/jdbc stores/redis stores/zookeeper \
    stores/etcd stores/memcached
  # started quickly rather than fast, as its workers are: most of its classes run a few times
  exec "$java" -XX:TieredStopAtLevel=1 -XX:+UseSerialGC --enable-native-access=ALL-UNNAMED -Djava.awt.headless=true -Dslf4j.internal.verbosity=ERROR \
    -Dnet.spy.log.LoggerImpl=net.spy.memcached.compat.log.SLF4JLogger "-Dholdfast.home=$home" \
    -cp "$(< "$module_path")" dev.holdfast.challenge.Challenge "$@"
}

challenge_run "$@"
