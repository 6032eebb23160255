#!/bin/sh
# Runs a PostgreSQL server, or PgBouncer before one, in a folder. Prints "ready" when it accepts connections, and after
# each command; ends, with the server, when its standard input ends. Started by root, the server runs as nobody.
#
#   server.sh postgres FOLDER PORT [SETTING...]
#   server.sh standby FOLDER PORT PRIMARY-PORT
#   server.sh pgbouncer FOLDER PORT MODE SERVER-PORT
#
# Commands, one a line: kill (all its processes at once), stop (as an administrator does), start, promote (makes a
# standby a primary).
set -eu
kind=$1 folder=$2 port=$3
shift 3
here=$(dirname "$0")
user="env -i PATH=/usr/bin:/bin LC_ALL=C TZ=UTC"
if [ "$(id -u)" = 0 ]; then
    user="setpriv --reuid 65534 --regid 65534 --clear-groups $user"
elif ! getent passwd "$(id -u)" >/dev/null; then
    cc -shared -fPIC -o "$folder/user.so" "$here/user.c"
    user="$user LD_PRELOAD=$folder/user.so"
fi
programs=
for programs in /usr/lib/postgresql/*/bin; do :; done
cd /
origin=
if [ "$kind" = standby ]; then
    kind=postgres origin=$1
    shift
fi
mkdir -p "$folder/$kind"
if [ "$(id -u)" = 0 ]; then chown 65534:65534 "$folder/$kind"; fi
chmod 755 "$folder/$kind"
server=

# A certificate of a private authority; only its name for this machine is "localhost".
certify() {
    cd "$folder/$kind"
    for name in authority other; do
        openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj "/CN=$name" \
            -keyout "$name.key" -out "$name.crt" 2>/dev/null
    done
    openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=localhost \
        -keyout server.key -out server.csr 2>/dev/null
    echo "subjectAltName=DNS:localhost" >names
    openssl x509 -req -in server.csr -CA authority.crt -CAkey authority.key -CAcreateserial -days 2 -extfile names \
        -out server.crt 2>/dev/null
    chmod 600 server.key
    if [ "$(id -u)" = 0 ]; then chown 65534:65534 server.key; fi
    cd /
}

prepare_postgres() {
    certify
    if [ -n "$origin" ]; then
        # This also writes standby.signal and the connection to the primary.
        set -- pg_basebackup -h 127.0.0.1 -p "$origin" -U localdata -R -c fast
    else
        set -- initdb -U localdata -A trust -E SQL_ASCII --no-locale
    fi
    program=$1
    shift
    $user "$programs/$program" -D "$folder/postgres/data" --no-sync "$@" \
        >"$folder/$program.log" 2>&1 || { cat "$folder/$program.log"; exit 1; }
    # Users who need a password, by SCRAM or in clear; see PostgreSQLServer.password.
    if [ -z "$origin" ]; then
        for user_ in secret clear; do
            echo "CREATE ROLE $user_ LOGIN PASSWORD 'correct horse'"
            echo "GRANT CREATE ON DATABASE postgres TO $user_"
        done |
            $user "$programs/postgres" --single -F -D "$folder/postgres/data" postgres >>"$folder/$program.log" 2>&1
    fi
    cat >"$folder/postgres/hba.conf" <<END
local all all trust
hostssl all,replication secret 127.0.0.1/32 scram-sha-256
host all secret 127.0.0.1/32 scram-sha-256
host all clear 127.0.0.1/32 password
host all,replication all 127.0.0.1/32 trust
END
}

prepare_pgbouncer() {
    cat >"$folder/pgbouncer/pgbouncer.ini" <<END
[databases]
postgres = host=127.0.0.1 port=$2 user=localdata
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = $port
unix_socket_dir =
auth_type = any
pool_mode = $1
default_pool_size = 10
max_client_conn = 200
ignore_startup_parameters = extra_float_digits
END
    chmod 644 "$folder/pgbouncer/pgbouncer.ini"
}

start() {
    case $kind in
    postgres)
        set -- -D "$folder/postgres/data" -k "$folder/postgres" -p "$port" -c hba_file="$folder/postgres/hba.conf" \
            -c listen_addresses=127.0.0.1 -c shared_buffers=16MB -c max_connections=600 -c ssl=on \
            -c wal_retrieve_retry_interval=100ms \
            -c ssl_cert_file="$folder/postgres/server.crt" -c ssl_key_file="$folder/postgres/server.key" $settings
        $user "$programs/postgres" "$@" >>"$folder/log" 2>&1 </dev/null &
        ;;
    pgbouncer) $user /usr/sbin/pgbouncer "$folder/pgbouncer/pgbouncer.ini" >>"$folder/log" 2>&1 </dev/null & ;;
    esac
    server=$!
    until "$programs/pg_isready" -q -h 127.0.0.1 -p "$port" -U localdata -d postgres; do
        kill -0 "$server" 2>/dev/null || { cat "$folder/log"; exit 1; }
        sleep 0.05
    done
}

# Ends all processes of the server at once, as a power failure does.
end() {
    [ -n "$server" ] || return 0
    # Lists the children while the server cannot start others.
    kill -STOP "$server" 2>/dev/null || true
    children=$(cat "/proc/$server/task/$server/children" 2>/dev/null) || children=
    # shellcheck disable=SC2086
    kill -KILL "$server" $children 2>/dev/null || true
    wait "$server" 2>/dev/null || true
    # A new server does not start while one of them still has the shared memory. Dead ones have no command line.
    for child in $children; do
        while grep -q . "/proc/$child/cmdline" 2>/dev/null; do sleep 0.01; done
    done
    server=
}

trap 'trap "" HUP INT TERM; end; rm -rf "$folder"' EXIT
trap 'exit 1' HUP INT TERM
settings=
case $kind in
postgres)
    settings=$*
    prepare_postgres
    ;;
pgbouncer) prepare_pgbouncer "$@" ;;
esac
start
echo ready
while read -r command; do
    case $command in
    kill) end ;;
    stop)
        kill -INT "$server"
        wait "$server" || true
        server=
        ;;
    start) start ;;
    promote) $user "$programs/pg_ctl" promote -D "$folder/postgres/data" >>"$folder/log" 2>&1 || exit 1 ;;
    esac
    echo ready
done
