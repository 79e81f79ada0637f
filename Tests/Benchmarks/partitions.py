#!/usr/bin/env python3
"""Whether a ledger that is cut by months keeps the statements of a batch fast: tables as in 0002_ledger.sql, beside others.

Loads tables of today's schema and variants of it with so many rows, spread over three years of one app, in turn into the server at
--database, an empty one that may be thrown away (wal_level=minimal loads faster), and measures in rounds what a batch of the
state-updater sends about the ledger, in generic plans, with COMMIT. SQL alone: needs psql, and 0.5 KB of disk for each row.

Prints the medians in milliseconds, and beside the empty table. A checkpoint begins each measurement.

The variants: `today`; `months`, partitions by signed_at; `key`, today's table with a unique index on (month, uuid) instead of on the uuid.
"""

import argparse
import collections
import pathlib
import re
import shlex
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
MONTHS = 36
FIRST, LAST = "timestamptz '2023-12-01 00:00Z'", "timestamptz '2026-11-28 00:00Z'"
MONTH = "date_trunc('month', signed_at at time zone 'UTC')"
UNIQUE = {"today": "notification_uuid", "months": "notification_uuid, signed_at", "key": f"({MONTH}), notification_uuid"}
HISTORY = ("select notification_uuid, signed_at, notification_type from {t} where environment = 'Production' "
           "and original_transaction_id = a_purchase order by signed_at desc, notification_uuid desc limit 50")


def schema(variant, name):
    """The statements that create the table, and those that index it."""
    text = (ROOT / "Shared/Storage/Schema/Migrations/0002_ledger.sql").read_text()
    text = text[text.index("create table notification ("):text.index("-- The payloads: large")]
    text = re.sub(r"--.*", "", text)
    table, *indexes = [s.strip() for s in text.split(";") if s.strip()]
    table = table.replace("create table notification", f"create table {name}").replace(" primary key", " not null")
    indexes = [re.sub(r"index notification(\w*) on notification", rf"index {name}\1 on {name}", s) for s in indexes]
    # Leaves as full as insertions at random places leave them.
    by_uuid = UNIQUE[variant]
    if variant == "months":
        table += " partition by range (signed_at)"
        parts = (f"do $$ begin for m in 0..{MONTHS - 1} loop execute format('create table {name}_%s partition of {name} "
                 f"for values from (%L) to (%L)', to_char(m, 'FM00'), {FIRST} + make_interval(months => m), "
                 f"{FIRST} + make_interval(months => m + 1)); end loop; end $$")
    else:
        parts = "select"
    return [table, parts], [f"create unique index {name}_pkey on {name} ({by_uuid}) with (fillfactor = 70)"] + [
        s if "_by_purchase" not in s else s.replace(" where ", " with (fillfactor = 70) where ") for s in indexes]


def rows(size, first, last):
    """Rows number first to last of a table of so many: a purchase has ten notifications at random times after its first."""
    return f"""
        select {FIRST} + ({LAST} - {FIRST}) * (i::float8 / {size}), at.*, 0, null::timestamptz, null::timestamptz,
            gen_random_uuid(), 'Production'::store_environment, 0, 0, 1::smallint, true, random() < 0.9, true, false, false, false,
            'webhook', (array['DID_RENEW', 'DID_RENEW', 'DID_RENEW', 'SUBSCRIBED', 'DID_CHANGE_RENEWAL_STATUS', 'EXPIRED'])[
                1 + floor(random() * 6)::integer], null, 'com.example.app',
            (2000000000000000 + floor(random() * i / 10))::bigint::text, (2000000000000000 + i)::text, null
        from generate_series({first}::bigint, {last}::bigint) as i
        cross join lateral (
            select {FIRST} + ({LAST} - {FIRST}) * (i::float8 / {size}) + interval '2 s',
                {FIRST} + ({LAST} - {FIRST}) * (i::float8 / {size}) + interval '3 s', 1234567890::bigint) as at"""


COLUMNS = """signed_at, received_at, recorded_at, app_apple_id, kafka_offset, purchased_at, expires_at, notification_uuid, environment,
    kafka_partition, content_conflicts, status, has_advanced, is_lifecycle_event, is_auto_renewing, is_failing_to_renew, is_revoked,
    has_added_seats, source, notification_type, subtype, bundle_id, original_transaction_id, transaction_id, app_transaction_id"""


def procedure(variant, name, size):
    """A procedure that runs batches as the state-updater does and notes their milliseconds by statement."""
    near = " and {a}.signed_at {o} given_at" if variant == "months" else ""  # else no partition is left out
    same = {
        "today": "notification_uuid = any (uuids)",
        "months": "signed_at >= since and signed_at <= until and notification_uuid = any (uuids)",
        "key": f"({MONTH}, notification_uuid) in (select date_trunc('month', at at time zone 'UTC'), uuid "
               "from unnest(uuids, ats) as given (uuid, at))",
    }[variant]
    alone = {"today": "", "months": "", "key": f" and {MONTH} in (select generate_series(timestamp '2023-12-01', "
             "timestamp '2026-12-01', interval '1 month'))"}[variant]
    side = """(select * from {t} {a} where {a}.environment = 'Production' and {a}.original_transaction_id = given_purchase
        and ({a}.signed_at, {a}.notification_uuid) {o} (given_at, given_uuid){near} and {a}.is_lifecycle_event
        order by {a}.signed_at {d}, {a}.notification_uuid {d} limit 1)"""
    sides = " union all ".join(
        side.format(t=name, a=a, o=o, d=d, near=near.format(a=a, o=o + "=")) for a, o, d in
        [("earlier", "<", "desc"), ("later", ">", "asc")])
    return f"""
        create procedure batch_{name}(n integer, batches integer, warm integer) language plpgsql as $$
        declare
            uuids uuid[]; ats timestamptz[]; purchases text[]; t timestamptz[];
            since timestamptz; until timestamptz;
        begin
            for b in 1..batches loop
                select array_agg(gen_random_uuid()), array_agg({LAST} + nextval('ids') * interval '1 ms'),
                    array_agg((2000000000000000 + case when random() < 0.7 then floor(random() * {max(size, 100000)} / 10)
                        else 1000000000 + nextval('ids') end)::bigint::text)
                into uuids, ats, purchases from generate_series(1, n);
                since := (select min(a) from unnest(ats) a); until := (select max(a) from unnest(ats) a);
                commit;
                t := array[clock_timestamp()];
                perform notification_uuid from {name} where {same};
                t := t || clock_timestamp();
                perform near.* from unnest(purchases, ats, uuids) as given (given_purchase, given_at, given_uuid)
                    cross join lateral ({sides}) as near;
                t := t || clock_timestamp();
                insert into {name} ({COLUMNS})
                select at, at, at, 1234567890, 1, at, at, uuid, 'Production'::store_environment, 0, 0, 1, true, true, true, false,
                    false, false, 'webhook', 'DID_RENEW', null, 'com.example.app', purchase, purchase, null
                from unnest(uuids, ats, purchases) as given (uuid, at, purchase)
                order by uuid on conflict ({UNIQUE[variant]}) do nothing;
                t := t || clock_timestamp();
                commit;
                t := t || clock_timestamp();
                if b > warm then
                    insert into took values ('{name}', n, extract(epoch from t[2] - t[1]) * 1000, extract(epoch from t[3] - t[2]) * 1000,
                        extract(epoch from t[4] - t[3]) * 1000, extract(epoch from t[5] - t[4]) * 1000);
                end if;
            end loop;
        end $$;
        create procedure reads_{name}(times integer) language plpgsql as $$
        declare
            known_uuids uuid[]; t timestamptz[]; a_purchase text; a uuid;
        begin
            if {size} = 0 then return; end if;
            select array_agg(notification_uuid) into known_uuids from (
                select notification_uuid from {name} tablesample bernoulli (0.05) limit 1000) as s;
            for b in 1..times loop
                a := known_uuids[1 + floor(random() * cardinality(known_uuids))::integer];
                a_purchase := (2000000000000000 + floor(random() * {size} / 10))::bigint::text;
                commit;
                t := array[clock_timestamp()];
                perform * from {name} where notification_uuid = a{alone};
                t := t || clock_timestamp();
                commit;
                t := t || clock_timestamp();
                {HISTORY.format(t=name).replace("select", "perform", 1)};
                t := t || clock_timestamp();
                commit;
                t := t || clock_timestamp();
                perform known.notification_type from unnest(known_uuids[1:100]) as delivery (uuid)
                    join {name} known on known.notification_uuid = delivery.uuid{alone};
                t := t || clock_timestamp();
                commit;
                insert into read values ('{name}', extract(epoch from t[2] - t[1]) * 1000, extract(epoch from t[4] - t[3]) * 1000,
                    extract(epoch from t[6] - t[5]) * 1000);
            end loop;
        end $$"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--database", required=True, help="URL of an empty database")
    parser.add_argument("--sizes", default="0,1000000,10000000", help="rows of the tables")
    parser.add_argument("--variants", default="today,months,key")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--skip-load", action="store_true", help="the tables are there")
    parser.add_argument("--prefix", default="", help="a command before each psql, such as `flock FILE`")
    options = parser.parse_args()
    sizes, variants = [int(s) for s in options.sizes.split(",")], options.variants.split(",")

    # Plans that are made while a table is empty must use the indexes too.
    def sql(text, settings="set plan_cache_mode = force_generic_plan; set max_parallel_workers_per_gather = 0;"
            " set max_parallel_maintenance_workers = 0; set maintenance_work_mem = '512MB'; set timezone = 'UTC';"
            " set enable_seqscan = off; set enable_sort = off; set jit = off"):
        command = shlex.split(options.prefix) + ["psql", options.database, "-XqAtv", "ON_ERROR_STOP=1"]
        for statement in [settings, text]:
            command += ["-c", statement]
        return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()

    tables = [(v, s, f"{v}_{s}") for s in sizes for v in variants]
    if not options.skip_load:
        sql("create type store_environment as enum ('Production', 'Sandbox', 'Xcode', 'LocalTesting')")
        sql("create sequence ids cache 1000")
        sql("create unlogged table took (name text, n integer, recorded float8, neighbours float8, inserted float8, committed float8)")
        sql("create unlogged table read (name text, by_uuid float8, history float8, joined float8)")
        for variant, size, name in tables:
            before, after = schema(variant, name)
            for statement in before:
                sql(statement)
            for first in range(1, size + 1, 1_000_000):
                sql(f"insert into {name} ({COLUMNS}) {rows(size, first, min(first + 999_999, size))}")
            for statement in after:
                sql(statement)
            if size > 0:
                sql(f"vacuum analyze {name}")
            sql(procedure(variant, name, size))
            print("loaded", name, file=sys.stderr, flush=True)
    for round in range(options.rounds):
        for variant, size, name in tables:
            for n, batches in [(500, 60), (5, 300)]:
                sql("checkpoint", settings="select")
                sql(f"call batch_{name}({n}, {batches}, {batches // 6})")
            sql(f"call reads_{name}(50)")
        print("round", round + 1, file=sys.stderr, flush=True)
    if options.rounds:
        report(sql, variants, sizes)


def report(sql, variants, sizes):
    """Prints the medians, and each beside the empty table of the same variant and beside today's of the same size."""
    parts = ["recorded", "neighbours", "inserted", "committed"]
    select = (
        f"select name || '|' || n || '|' || concat_ws('|', {', '.join(f'percentile_cont(0.5) within group (order by {p})' for p in parts)}, "
        f"percentile_cont(0.5) within group (order by {' + '.join(parts)})) from took group by name, n order by 1")
    values = {}
    for line in sql(select).splitlines():
        name, n, *figures = line.split("|")
        values[name, int(n)] = [float(f) for f in figures]
    print("| rows | variant | batch | " + " | ".join(parts) + " | all, ms | beside empty | beside today |")
    for n in [500, 5]:
        for size in sizes:
            for v in variants:
                own = values[f"{v}_{size}", n]
                beside = values.get((f"{v}_0", n)), values.get((f"today_{size}", n))
                print(f"| {size} | {v} | {n} | " + " | ".join(f"{f:.2f}" for f in own) + " | "
                      + " | ".join(f"{own[-1] / b[-1]:.2f}" if b else "" for b in beside) + " |")
    print(sql("select name || ': by uuid ' || round((percentile_cont(0.5) within group (order by by_uuid))::numeric, 3) || ', history '"
              " || round((percentile_cont(0.5) within group (order by history))::numeric, 3) || ', 100 joined '"
              " || round((percentile_cont(0.5) within group (order by joined))::numeric, 3) from read group by name order by 1"))


if __name__ == "__main__":
    main()
