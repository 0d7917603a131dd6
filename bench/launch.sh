# Sourced by the launcher for `holdfast bench`: the bench and the libraries it measures beside are built on first use
# and after changes, into a class path of their own, so that the command line's own jar knows nothing of them.

bench_made=$made/bench
bench_path=$bench_made/class-path

bench_is_stale() {
  [[ -f $bench_path ]] || return 0
  [[ -n $(find "$home/pom.xml" "$home"/{core,testbed,recipes,bench,stores/*}/{pom.xml,src/main} -cnewer "$bench_path" 2> /dev/null) ]]
}

# Keeps copies of our own jars: a later build must not change a bench that runs.
bench_keep() {
  local entry kept=$bench_made/jars.$$ path='' entries
  mkdir -p "$kept" || return
  IFS=: read -r -a entries <<< "$home/bench/target/quick/$(basename "$home"/bench/target/quick/holdfast-bench-*.jar):$(< "$bench_made/resolved")"
  for entry in "${entries[@]}"; do
    if [[ $entry == "$home"/* ]]; then
      cp "$entry" "$kept/" || return
      entry=$kept/${entry##*/}
    fi
    path+=${path:+:}$entry
  done
  printf '%s' "$path" > "$bench_path.$$" && touch -r "$bench_made/stamp" "$bench_path.$$" && mv -f "$bench_path.$$" "$bench_path"
}

bench_build() {
  local log=$bench_made/build.log maven started=$SECONDS why="first use: fetches the libraries and servers it measures"
  [[ ! -f $bench_path ]] || why="its sources changed"
  [[ -x $java_home/bin/javac ]] ||
    fail "$java_home is no JDK (there is no javac), and one is needed for building: install a JDK, 17 or later"
  command -v mvn > /dev/null || fail "no mvn found, which builds the bench: install Apache Maven, 3.8 or later"
  printf 'holdfast: building the bench (%s) ' "$why" >&2
  : > "$bench_made/stamp"
  (cd "$home" && JAVA_HOME=$java_home exec mvn -B -Dquick -Dstyle.color=never -pl bench -am \
    resources:resources compiler:compile jar:jar dependency:build-classpath -DincludeScope=runtime \
    "-Dmdep.outputFile=$bench_made/resolved" > "$log" 2>&1 < /dev/null) &
  maven=$!
  trap 'kill "$maven" 2> /dev/null' EXIT
  while kill -0 "$maven" 2> /dev/null; do
    sleep 2
    printf '. ' >&2
  done
  if ! wait "$maven"; then
    printf 'failed\n' >&2
    tail -n 25 "$log" >&2
    fail "the build failed; its log is $log"
  fi
  rm -rf "$bench_made"/jars.*
  bench_keep || fail "cannot write to $bench_made"
  trap - EXIT
  printf 'ready (%d s)\n' $(( SECONDS - started )) >&2
}

bench_run() {
  if [[ ${1:-} == --help || ${1:-} == -h ]]; then
    exec cat "$home/bench/usage.txt" # what the bench says itself, without building it
  fi
  local main=dev.holdfast.bench.Bench
  if bench_is_stale; then
    mkdir -p "$bench_made" 2> /dev/null && [[ -w $bench_made ]] || fail "cannot write to $bench_made, where the bench is built"
    take_lock
    ! bench_is_stale || bench_build
    drop_lock
  fi
  if [[ ${1:-} == jmh ]]; then
    main=org.openjdk.jmh.Main
    shift
  elif [[ ${1:-} =~ ^(recipes|leaders|once)$ ]]; then
    main=dev.holdfast.bench.trial.Trial
  fi
  exec "$java" --enable-native-access=ALL-UNNAMED -Djava.awt.headless=true -Dslf4j.internal.verbosity=ERROR "-Dholdfast.home=$home" \
    -cp "$(< "$bench_path")" "$main" "$@"
}

bench_run "$@"
