# A broker and a database for scripts: source it after setting `programs` and `packages`.
#
# Creates the directory $work, starts the embedded broker and a private Postgres and exports their addresses; removes all of it at
# the end of the script, with every process in the map `process`. Everything listens on loopback addresses only. What a service has
# is read from Deploy/services.json.
script=$(basename "$0")
say() { echo "$script: $*"; }

missing=()
for package in jq postgresql "${packages[@]}"; do
    dpkg-query --show --showformat='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
done
if [ ${#missing[@]} -gt 0 ]; then
    echo "$script: some packages are missing. As root:" \
        "apt-get install -y --no-install-recommends ${missing[*]}" >&2
    exit 69
fi
postgres_bin=$(pg_config --bindir 2>/dev/null || find /usr/lib/postgresql -maxdepth 2 -name bin | sort -V | tail -n 1)

work=$(mktemp -d)
chmod 755 "$work"
declare -A process port
fail() {
    say "FAILED: $*" >&2
    tail -n 5 "$work"/*.log >&2
    exit 1
}
as_postgres() { if [ "$(id -u)" -eq 0 ]; then runuser -u postgres -- "$@"; else "$@"; fi; }
finish() {
    status=$?
    trap - EXIT
    local name
    for name in "${!process[@]}"; do kill "${process[$name]}" 2>/dev/null || true; done
    for name in "${!process[@]}"; do wait "${process[$name]}" 2>/dev/null || true; done
    [ ! -d "$work/database" ] || as_postgres "$postgres_bin/pg_ctl" -D "$work/database" -m immediate -s stop || true
    rm -rf "$work"
    exit "$status"
}
trap finish EXIT

wait_until() { # what is waited for, seconds, command …
    local what=$1 left=$(($2 * 5))
    shift 2
    until "$@" >/dev/null 2>&1; do
        left=$((left - 1))
        [ "$left" -gt 0 ] || fail "$what"
        sleep 0.2
    done
}

free_port() { # address → a free port
    PYTHONPATH=Deploy/checks python3 -B -c 'import sys; from rehearsal import ports; print(ports.free_port(sys.argv[1]))' "$1"
}

"$programs/devkit" broker >"$work/broker" 2>"$work/broker.log" &
process[broker]=$!
wait_until "the broker does not start" 60 test -s "$work/broker"
KAFKA_BOOTSTRAP_SERVERS=$(cat "$work/broker")
# Client settings for the embedded broker; see `devkit dev`.
export KAFKA_BOOTSTRAP_SERVERS KAFKA_FETCH_WAIT_MAX_MS=10 KAFKA_SESSION_TIMEOUT_MS=6000 KAFKA_HEARTBEAT_INTERVAL_MS=1000

install -d -m 700 "$work/database"
[ "$(id -u)" -ne 0 ] || chown postgres "$work/database"
port[postgres]=$(free_port 127.0.0.1)
as_postgres "$postgres_bin/initdb" -D "$work/database" -U storekeeper --auth=trust >"$work/initdb.log" 2>&1 ||
    fail "initdb"
as_postgres "$postgres_bin/pg_ctl" -D "$work/database" -s -w -l "$work/database/log" \
    -o "-c listen_addresses=127.0.0.1 -c port=${port[postgres]} -c unix_socket_directories=''" start || fail "Postgres"
export DATABASE_URL=postgres://storekeeper@127.0.0.1:${port[postgres]}/postgres

# Those that every notification passes, in that order; then those that ask Apple about the missing ones.
# shellcheck disable=SC2034 # Used by the scripts.
pipeline=(ingest verifier deduplicator state-updater) history=(recovery scheduler)

field() { # service, field of Deploy/services.json
    jq --raw-output --arg name "$1" --arg field "$2" '.[] | select(.name == $name) | .[$field]' Deploy/services.json
}

create_users() { # service …: after setup, a database user for each that has a role
    local service
    for service in "$@"; do
        [ "$(field "$service" database)" = true ] || continue
        "$postgres_bin/psql" --no-psqlrc --quiet --set=ON_ERROR_STOP=1 "$DATABASE_URL" >"$work/users.log" 2>&1 \
            --command="create user ${service//-/_} in role storekeeper_${service//-/_}" || fail "the database user of $service"
    done
}

# service: exports what it has by the table: its database user, the keys of records, what it needs of the simulated Apple once
# $work/authority is made (its API, where there is one, listens at port[apple]), and its variables of a short run; for a subshell
prepare() {
    local apple assignment
    if [ "$(field "$1" database)" = true ]; then
        export DATABASE_URL=${DATABASE_URL/storekeeper@/${1//-/_}@}
    else
        unset DATABASE_URL
    fi
    if [ "$(field "$1" recordKeys)" = true ]; then export STOREKEEPER_RECORD_KEYS_FILE=$work/record-keys; fi
    apple=$(field "$1" apple)
    # Without an API to ask, it runs as without a key.
    if [ "$apple" = api ] && [ -z "${port[apple]:-}" ]; then apple=null; fi
    if [ "$apple" != null ] && [ -d "$work/authority" ]; then
        export STOREKEEPER_APPS_FILE=$work/apps.json STOREKEEPER_DEVELOPMENT_MODE=true STOREKEEPER_ROOT_FILES=$work/authority/root.pem
        case $apple in
        trust) export STOREKEEPER_REVOCATION=off ;;
        api)
            export STOREKEEPER_APP_STORE_API_KEYS_FILE=$work/authority/api-keys.json
            export STOREKEEPER_APP_STORE_API_URL=http://127.0.0.1:${port[apple]} ;;
        esac
    fi
    while IFS= read -r assignment; do
        export "${assignment?}"
    done < <(jq --raw-output --arg name "$1" '.[] | select(.name == $name) | .local // {} | to_entries[] | "\(.key)=\(.value)"' Deploy/services.json)
}

create_key() { # after setup: a key of the API for the sandbox of com.example.app, with the scopes of an app backend
    local scopes=(
        entitlements:read subscriptions:read subscriptions:write purchases:write customers:read customers:write offers:sign
        events:read refunds:write)
    "$programs/storekeeper" keys create --name check --environment Sandbox --app com.example.app "${scopes[@]/#/--scope=}" \
        2>"$work/keys.log"
}
