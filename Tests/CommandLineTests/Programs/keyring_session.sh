#!/bin/sh
# Runs a program in a session of its own, and ends with its status: a bus in $HOME, and on it gnome-keyring with an
# unlocked default collection, whose files are in $XDG_DATA_HOME. All of it ends with the program.
#
# usage: keyring_session.sh PROGRAM [ARGUMENT...]
set -eu
session=$(dirname "$0")/../../SecretServiceTests/Programs/session.sh
XDG_RUNTIME_DIR=$HOME/run
DBUS_SESSION_BUS_ADDRESS=unix:path=$HOME/bus
export XDG_RUNTIME_DIR DBUS_SESSION_BUS_ADDRESS
mkdir -p "$XDG_RUNTIME_DIR"
chmod 700 "$XDG_RUNTIME_DIR"
rm -f "$HOME/said" "$HOME/end"
mkfifo "$HOME/said" "$HOME/end"
sh "$session" keyring 'correct horse' <"$HOME/end" >"$HOME/said" &
# The session ends when no process has this end of its standard input open.
exec 7>"$HOME/end"
read -r line <"$HOME/said"
[ "$line" = ready ]
status=0
"$@" 7>&- || status=$?
exec 7>&-
wait $! || true
exit $status
