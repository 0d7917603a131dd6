# Sourced by the launcher for `holdfast sale`: the flash sale with its servers, on a class path of its own.
. "$home/build/tools/launch-module.sh"

build_module show/flashsale "first use: fetches Spring Boot and the balancer" \
  core use/recipes use/spring proof/ladder proof/testbed show/flashsale stores/sqlite stores/jdbc stores/redis stores/zookeeper stores/etcd stores/memcached
CLASSPATH=$(< "$module_path") exec "$java" -XX:+UseSerialGC --enable-native-access=ALL-UNNAMED \
  -Dnet.spy.log.LoggerImpl=net.spy.memcached.compat.log.SLF4JLogger dev.holdfast.flashsale.SaleCommand "$@"
