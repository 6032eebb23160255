#!/bin/sh
# The main job on real input: Debian's list of languages goes through one plugin and then, after one line of
# configuration has changed, through another. Usage: demo.sh FOLDER-OF-LD-HOST
set -eu
PATH="$1:$PATH"
export PATH
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
export HOME="$home" XDG_CONFIG_HOME="$home/config" XDG_DATA_HOME="$home/data" XDG_CACHE_HOME="$home/cache" XDG_STATE_HOME="$home/state"
unset LOCALDATA_APP LOCALDATA_CONFIG LOCALDATA_PLUGIN_PATH
languages=/usr/share/iso-codes/json/iso_639-3.json

run() {
    printf '\n$ %s\n' "$*"
    "$@"
}

run ld-host init
run ld-host plugins list
run ld-host import userDefaults:languages "$languages" --each 639-3 --name alpha_3
run ld-host get userDefaults:languages/fin
echo
printf '\n$ ld-host ls userDefaults:languages | wc -l\n'
ld-host ls userDefaults:languages | wc -l
run ls -l "$XDG_DATA_HOME/localdata"

echo
echo "# One line of configuration swaps the plugin; the same program now uses the other one."
run ld-host config set domains.userDefaults memory
run ld-host config get domains.userDefaults --origin
printf '\n$ ld-host doctor | grep userDefaults\n'
ld-host doctor | grep userDefaults
printf '\n$ ld-host get userDefaults:languages/fin\n'
ld-host get userDefaults:languages/fin || echo "(status $?: the memory store starts empty; what the SQLite store holds has not moved)"
run ld-host config set domains.userDefaults sqlite
run ld-host get userDefaults:languages/fin
echo

echo
echo "# The store is switched under programs that write and read: no value is missing, none is old."
worker() {
    n=0
    while test -e "$home/running"; do
        n=$((n + 1))
        ld-host set "userDefaults/worker$1" $n && test "$(ld-host get "userDefaults/worker$1")" = $n && echo right || echo wrong
        test "$(ld-host get userDefaults:languages/fin | head -c 1)" = "{" && echo right || echo wrong
    done > "$home/reads$1"
}
touch "$home/running"
worker 1 & worker 2 &
sleep 1
run ld-host store switch userDefaults file
run ld-host store switch userDefaults sqlite
rm "$home/running"
wait
printf '\n$ sort reads1 reads2 | uniq -c\n'
sort "$home/reads1" "$home/reads2" | uniq -c

echo
echo "# Three plugins in one process: the same import, before and after each swap."
run ld-host demo "$languages"
printf '\n$ ld-host ls | head -3\n'
ld-host ls | head -3
