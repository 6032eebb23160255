#!/bin/sh
# Starts a session bus in $HOME, and on it the given services. Prints "ready" when all of them run; ends, with all of
# them, when its standard input ends.
#
#   session.sh bus                     nothing but the bus
#   session.sh keyring PASSWORD [WORD...]
#                                      gnome-keyring, whose login collection has this password; it asks a prompter that
#                                      answers as prompter.py does with these words
#   session.sh plain                   gnome-keyring with a default collection that has no password
#   session.sh program COMMAND...      a program that prints "ready" when it is
set -eu
here=$(dirname "$0")
cat >"$HOME/bus.conf" <<END
<busconfig>
  <type>session</type>
  <listen>unix:path=$HOME/bus</listen>
  <auth>EXTERNAL</auth>
  <policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy>
  <limit name="max_message_size">1000000000</limit>
  <limit name="max_incoming_bytes">1000000000</limit>
  <limit name="max_outgoing_bytes">1000000000</limit>
  <limit name="max_replies_per_connection">50000</limit>
  <limit name="max_connections_per_user">1000</limit>
</busconfig>
END
rm -f "$HOME/bus" "$HOME/hold"
mkfifo "$HOME/hold"
exec 9<>"$HOME/hold"
others=
# Each session removes its socket when it ends, but must not remove that of the next session in this home.
trap 'kill $others 2>/dev/null || true; wait' EXIT
export DBUS_SESSION_BUS_ADDRESS="unix:path=$HOME/bus"

# Starts a program whose standard input ends with this script's, and waits for its first line, which goes into `line`.
start() {
    rm -f "$HOME/line"
    mkfifo "$HOME/line"
    # Kept open, so that no writer ends for lack of a reader.
    exec 8<>"$HOME/line"
    "$@" >&8 2>>"$HOME/errors" <"$HOME/hold" 9>&- &
    others="$others $!"
    read -r line <&8
}
# Starts gnome-keyring, whose standard input is descriptor 7, and waits until it serves.
keyring() {
    gnome-keyring-daemon --foreground --components=secrets "$@" >/dev/null 2>>"$HOME/errors" 9>&- <&7 &
    others="$others $!"
    until dbus-send --print-reply --dest=org.freedesktop.DBus / org.freedesktop.DBus.GetNameOwner \
        string:org.freedesktop.secrets >/dev/null 2>&1; do kill -0 $!; done
}

bus=
if ! getent passwd "$(id -u)" >/dev/null; then
    cc -shared -fPIC -o "$HOME/bususer.so" "$here/bususer.c"
    bus="env LD_PRELOAD=$HOME/bususer.so"
fi
# shellcheck disable=SC2086
start $bus dbus-daemon --nofork --config-file="$HOME/bus.conf" --print-pid
kind=$1
shift
case $kind in
keyring)
    password=$1
    shift
    if [ $# -gt 0 ]; then
        start /usr/bin/python3 "$here/prompter.py" "$@"
        export GNOME_KEYRING_TEST_PROMPTER="$line"
    fi
    printf %s "$password" >"$HOME/password"
    exec 7<"$HOME/password"
    rm "$HOME/password"
    keyring --unlock
    ;;
plain)
    exec 7</dev/null
    keyring
    /usr/bin/python3 "$here/plain.py"
    ;;
program) start "$@" ;;
esac
echo ready
while read -r _; do :; done
