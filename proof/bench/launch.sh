# Sourced by the launcher for `holdfast bench`: the bench with the libraries it measures beside, on a class path of its own.
. "$home/build/tools/launch-module.sh"

bench_run() {
  if [[ ${1:-} == --help || ${1:-} == -h ]]; then
    exec cat "$home/proof/bench/usage.txt" # what the bench says itself, without building it
  fi
  local main=dev.holdfast.bench.Bench
  build_module proof/bench "first use: fetches the libraries and servers it measures" \
    core proof/testbed use/recipes proof/bench stores/sqlite stores/jdbc stores/redis stores/zookeeper stores/etcd stores/memcached
  if [[ ${1:-} == jmh ]]; then
    main=org.openjdk.jmh.Main
    shift
  elif [[ ${1:-} == pictures ]]; then
    main=dev.holdfast.bench.Pictures
    shift
  elif [[ ${1:-} =~ ^(recipes|retain|free-lock|memcached|etcd|writers|quorum|cluster|writes|long)$ ]]; then
    main=dev.holdfast.bench.trial.Trial
  fi
  exec "$java" --enable-native-access=ALL-UNNAMED -Djava.awt.headless=true -Dslf4j.internal.verbosity=ERROR \
    -Dnet.spy.log.LoggerImpl=net.spy.memcached.compat.log.SLF4JLogger "-Dholdfast.home=$home" \
    -cp "$(< "$module_path")" "$main" "$@"
}

bench_run "$@"
