# Sourced by the launch.sh of bench, challenge and flashsale: a module is built on first use and after changes, into a class path
# of its own, so that the command line's own jar knows nothing of what it needs.

# build_module MODULE REASON SOURCES...: sets module_path to a file with the class path
build_module() {
  local module=$1 reason=$2 module_made=$made/$1
  shift 2
  module_path=$module_made/class-path
  module_is_stale "$@" || return 0
  mkdir -p "$module_made" 2> /dev/null && [[ -w $module_made ]] || fail "cannot write to $module_made, where $module is built"
  take_lock
  ! module_is_stale "$@" || compile_module "$reason"
  drop_lock
}

module_is_stale() {
  [[ -f $module_path ]] || return 0
  local source places=("$home/pom.xml")
  for source in "$@"; do
    places+=("$home/$source/pom.xml" "$home/$source/src/main")
  done
  [[ -n $(find "${places[@]}" -cnewer "$module_path" 2> /dev/null) ]]
}

compile_module() {
  local log=$module_made/build.log maven started=$SECONDS why=$1
  [[ ! -f $module_path ]] || why="its sources changed"
  [[ -x $java_home/bin/javac ]] ||
    fail "$java_home is no JDK (there is no javac), and one is needed for building: install a JDK, 17 or later"
  command -v mvn > /dev/null || fail "no mvn found, which builds $module: install Apache Maven, 3.8 or later"
  printf 'holdfast: building %s (%s) ' "${module##*/}" "$why" >&2
  : > "$module_made/stamp"
  (cd "$home" && JAVA_HOME=$java_home exec mvn -B -Dquick -Dstyle.color=never -pl "$module" -am \
    resources:resources compiler:compile jar:jar dependency:build-classpath -DincludeScope=runtime \
    "-Dmdep.outputFile=$module_made/resolved" > "$log" 2>&1 < /dev/null) &
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
  rm -rf "$module_made"/jars.*
  keep_jars || fail "cannot write to $module_made"
  trap - EXIT
  printf 'ready (%d s)\n' $(( SECONDS - started )) >&2
}

# Keeps copies of our own jars: a later build must not change a program that runs.
keep_jars() {
  local entry kept=$module_made/jars.$$ path='' entries
  mkdir -p "$kept" || return
  IFS=: read -r -a entries <<< "$home/$module/target/quick/$(basename "$home/$module"/target/quick/holdfast-"${module##*/}"-*.jar):$(< "$module_made/resolved")"
  for entry in "${entries[@]}"; do
    if [[ $entry == "$home"/* ]]; then
      cp "$entry" "$kept/" || return
      entry=$kept/${entry##*/}
    fi
    path+=${path:+:}$entry
  done
  printf '%s' "$path" > "$module_path.$$" && touch -r "$module_made/stamp" "$module_path.$$" && mv -f "$module_path.$$" "$module_path"
}
