#!/bin/sh
# Runs a NATS server with JetStream in a folder. Prints "ready" when it accepts connections, and after each command;
# ends, with the server, when its standard input ends.
#
#   server.sh FOLDER PORT PROGRAM [LINE...]
#
# The lines are of the server's configuration; %f in one is the folder.
#
# Commands, one a line: kill, start, wipe (removes all stored data), pause and resume (in between it answers no client).
set -eu
folder=$1 port=$2 program=$3
shift 3
here=$(dirname "$0")
server=
cd "$folder"

# Certificates of a private authority; their only name for this machine is "localhost".
certify() {
    for name in authority other; do
        openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj "/CN=$name" \
            -keyout "$name.key" -out "$name.crt" 2>/dev/null
    done
    for name in server client; do
        openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj "/CN=$name" \
            -keyout "$name.key" -out "$name.csr" 2>/dev/null
        echo "subjectAltName=DNS:localhost" >names
        openssl x509 -req -in "$name.csr" -CA authority.crt -CAkey authority.key -CAcreateserial -days 2 \
            -extfile names -out "$name.crt" 2>/dev/null
    done
    chmod 600 ./*.key
}

configure() {
    {
        echo "listen: 127.0.0.1:$port"
        echo "jetstream { store_dir: \"$folder/store\" }"
        for line in "$@"; do echo "$line"; done | sed "s|%f|$folder|g"
    } >server.conf
}

# The port is bound before the server is ready.
start() {
    rm -f ports/*
    "$program" --config server.conf --ports_file_dir "$folder/ports" >>log 2>&1 </dev/null &
    server=$!
    while [ -z "$(ls ports)" ]; do
        kill -0 "$server" 2>/dev/null || { cat log; exit 1; }
        sleep 0.02
    done
}

# The server is stopped once all of its threads are. A signal that lets it continue may come in between.
pause() {
    kill -STOP "$server"
    while cut -d ' ' -f 3 /proc/"$server"/task/*/stat | grep -qv T; do
        sleep 0.02
        kill -STOP "$server"
    done
}

end() {
    [ -n "$server" ] || return 0
    kill -KILL "$server" 2>/dev/null || true
    wait "$server" 2>/dev/null || true
    server=
}

trap 'trap "" HUP INT TERM; end; rm -rf "$folder"' EXIT
trap 'exit 1' HUP INT TERM
mkdir -p ports
case "$*" in *tls*) certify ;; esac
configure "$@"
start
echo ready
while read -r command; do
    case $command in
    kill) end ;;
    start) start ;;
    wipe) rm -rf store ;;
    pause) pause ;;
    resume) kill -CONT "$server" ;;
    esac
    echo ready
done
