"""The whole pipeline on this machine: started by Tests/Benchmarks/pipeline."""
import argparse
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

from rehearsal import kafka, ports, postgres
from rehearsal.deployment import Deployment

root = pathlib.Path(__file__).parent.parent.parent
ticks = os.sysconf("SC_CLK_TCK")
# What a production pipeline does not run: the simulated App Store, and `devkit dev` with its broker and its checks.
APART = {"simulator", "devkit"}

FIGURES = """
    select jsonb_build_object(
        'notifications', (select count(*) from notification),
        'first', (select extract(epoch from min(received_at)) from notification where source = 'webhook'),
        'last', (select extract(epoch from max(recorded_at)) from notification where source = 'webhook'),
        'end', (select extract(epoch from max(published_at)) from timeline),
        'state', (
            select to_jsonb(percentile_disc(array[0.5, 0.95, 0.99]) within group (
                order by round(1000 * extract(epoch from recorded_at - received_at))))
            from notification where source = 'webhook'),
        'published', (
            select to_jsonb(percentile_disc(array[0.5, 0.95, 0.99]) within group (
                order by round(1000 * extract(epoch from published_at - applied_at))))
            from timeline where published_at is not null),
        'inserted', (select sum(n_tup_ins) from pg_stat_user_tables),
        'updated', (select sum(n_tup_upd) from pg_stat_user_tables),
        'read', (
            select jsonb_agg(jsonb_build_object('name', name, 'rows', rows) order by rows desc) from (
                select relname as name, seq_tup_read as rows from pg_stat_user_tables
                union all select indexrelname, idx_tup_read from pg_stat_user_indexes
            ) as reads where rows > 0),
        'wal', (select pg_wal_lsn_diff(pg_current_wal_lsn(), '{start}')),
        'bytes', (select sum(pg_total_relation_size(oid)) from pg_class where relkind in ('r', 'm') and relnamespace = 'public'::regnamespace))
"""


class Server(postgres.Postgres):
    """Durable, as in production."""

    def settings(self):
        return super().settings() | {"fsync": "on", "max_wal_size": "2GB", "shared_buffers": "512MB"}

    def process(self):
        return int((self.data / "postmaster.pid").read_text().splitlines()[0])


def programs(given):
    if given:
        return pathlib.Path(given).absolute()
    subprocess.run([root / "Deploy/build", "-c", "release"], check=True, stdout=sys.stderr)
    shown = subprocess.run(
        ["swift", "build", "-c", "release", "--show-bin-path"], cwd=root, check=True, capture_output=True, text=True)
    return pathlib.Path(shown.stdout.strip())


class Watch(threading.Thread):
    """The processor time and the greatest memory of all descendants of some processes, and the bytes of those that have
    connections to `broker`, the process of the development broker."""

    def __init__(self, *tops, broker=None):
        super().__init__(daemon=True)
        self.tops, self.broker, self.ended = set(tops), broker, threading.Event()
        self.seen, self.ticks, self.connections = {}, [], {}
        self.start()

    def run(self):
        while not self.ended.wait(0.1):
            self.look()
            self.ticks.append((time.time(), self.totals()))
            if self.broker and len(self.ticks) % 5 == 0:
                self.look_at_connections()

    def look(self):
        now = {}
        for name in filter(str.isdigit, os.listdir("/proc")):
            try:
                text = pathlib.Path(f"/proc/{name}/stat").read_text(errors="replace")
                status = pathlib.Path(f"/proc/{name}/status").read_text(errors="replace")
            except OSError:
                continue  # it ended
            fields = text[text.rindex(")") + 2:].split()
            peak = next((int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM")), 0)
            now[int(name)] = (
                int(fields[1]), text[text.index("(") + 1:text.rindex(")")], (int(fields[11]) + int(fields[12])) / ticks,
                peak / 1024)
        for process, (_, command, seconds, megabytes) in now.items():
            ancestor = process
            while ancestor in now and ancestor not in self.tops:
                ancestor = now[ancestor][0]
            if ancestor in self.tops:
                self.seen[process] = (command, seconds, megabytes)

    def look_at_connections(self):
        """What the kernel counted of every connection, requests and acknowledgements included."""
        lines = subprocess.run(["ss", "-tanpHiO"], capture_output=True, text=True).stdout.splitlines()
        own = {line.split()[3] for line in lines if f"pid={self.broker}," in line and line.startswith("LISTEN")}
        for line in lines:
            user = re.search(r'users:\(\("([^"]+)",pid=(\d+)', line)
            if user and line.split()[4] in own and int(user[2]) != self.broker:
                sent, received = (
                    int(found[1]) if (found := re.search(rf"{name}:(\d+)", line)) else 0
                    for name in ("bytes_acked", "bytes_received"))
                self.connections[user[1], user[2], line.split()[3]] = (sent, received)

    def totals(self):
        """Seconds of processor time, and the memory of the largest process in MB, by command."""
        totals = {}
        for command, seconds, megabytes in self.seen.values():
            before = totals.get(command, (0, 0))
            totals[command] = (before[0] + seconds, max(before[1], megabytes))
        return totals

    def between(self, first, last):
        """The same, with the processor time between two moments alone."""
        begin = next((totals for moment, totals in reversed(self.ticks) if moment <= first), {})
        end = next((totals for moment, totals in self.ticks if moment >= last), self.ticks[-1][1])
        return {name: (used - begin.get(name, (0,))[0], megabytes) for name, (used, megabytes) in end.items()}

    def traffic(self):
        """Bytes sent to the broker and received from it, by command."""
        traffic = {}
        for (command, _, _), (sent, received) in self.connections.items():
            before = traffic.get(command, (0, 0))
            traffic[command] = (before[0] + sent, before[1] + received)
        return traffic

    def end(self):
        self.ended.set()
        self.join()


def three_verifications():
    """Milliseconds of three P-256 verifications on one core."""
    output = subprocess.run(
        ["openssl", "speed", "-mr", "-seconds", "3", "ecdsap256"], check=True, capture_output=True, text=True).stdout
    return 3000 / float([line for line in output.splitlines() if line.startswith("+F4:")][-1].split(":")[-1])


class Run:
    """One run of `devkit dev` with a database of its own."""

    def __init__(self, server, directory, name, *options, **environment):
        self.server, self.name = server, name
        server.sql(f"create database {name}")
        self.url = server.url().removesuffix("postgres") + name
        self.start = server.value("select pg_current_wal_lsn()")
        self.process = subprocess.Popen(
            [directory / "devkit", "dev", *options], stdout=subprocess.PIPE, text=True,
            env=os.environ | {"DATABASE_URL": self.url} | environment)
        self.watch = Watch(self.process.pid, server.process(), broker=self.process.pid)

    def report(self):
        """What `devkit dev` printed, once it has ended."""
        output, _ = self.process.communicate()
        self.watch.end()
        try:
            return json.loads(output)
        except json.JSONDecodeError:
            sys.exit(f"pipeline: devkit dev printed no result: {output}")

    def figures(self):
        shown = subprocess.run(
            [self.server.bin / "psql", "-XAtq", "-d", self.url, "-c", FIGURES.format(start=self.start)],
            check=True, capture_output=True, text=True)
        return json.loads(shown.stdout)


def percentiles(values):
    return " / ".join(f"{value:.0f}" for value in values) + " ms" if values else "none"


def show(run, signatures=None):
    """Prints what a run cost, and returns whether it was equal, with notifications a second, milliseconds each, and those of Postgres.
    `signatures` was measured before the run, and is measured again after it."""
    report, figures = run.report(), run.figures()
    count = figures["notifications"]
    rate = count / (figures["last"] - figures["first"])
    print(f"\n{run.name.replace('_', ' ')}: {count} notifications, {rate:.0f} a second from the first webhook to the last state; "
          f"equal: {report['isClean']}")
    print("from webhook to state, p50 / p95 / p99:", percentiles(figures["state"]))
    print("from state to subscriptions.changed:", percentiles(figures["published"]))
    print(f"in Postgres, a notification: {figures['inserted'] / count:.1f} rows inserted, {figures['updated'] / count:.1f} "
          f"updated, {figures['wal'] / count:.0f} bytes of WAL, {figures['bytes'] / count:.0f} bytes of tables and indexes")
    most = ", ".join(f"{each['rows'] / count:.1f} of {each['name']}" for each in figures["read"][:6])
    print(f"rows read there, a notification: {sum(each['rows'] for each in figures['read']) / count:.0f}; most: {most}")
    totals = run.watch.between(figures["first"], max(figures["last"], figures["end"] or 0))
    traffic = run.watch.traffic()
    print("a notification: ms of processor time from the first webhook to the last message, the most memory of a process in MB, "
          "KB sent to Kafka and received")
    for command, (seconds, megabytes) in sorted(totals.items(), key=lambda item: -item[1][0]):
        if seconds * 1000 / count >= 0.0005:
            kilobytes = "".join(f"{each / count / 1000:8.2f}" for each in traffic.get(command, ()) if command not in APART)
            print(f"{command:18} {1000 * seconds / count:7.3f} {megabytes:7.0f} {kilobytes}")
    own = 1000 * sum(seconds for command, (seconds, _) in totals.items() if command not in APART) / count
    print(f"{'the pipeline':18} {own:7.3f}, without simulator, development broker and checks")
    if signatures:
        signatures = (signatures + three_verifications()) / 2
        print(f"{'three signatures':18} {signatures:7.3f}, openssl speed ecdsap256: the pipeline is {own / signatures:.1f} times that")
    return report["isClean"], rate, own, 1000 * totals["postgres"][0] / count


def pgbench(server, work, postgres):
    """Prints what the same server does for pgbench, which inserts a row of 2 KB in each transaction."""
    server.sql("create table reference (id uuid primary key, inserted_at timestamptz not null, payload text not null)")
    script = work / "reference.sql"
    script.write_text("insert into reference values (gen_random_uuid(), now(), repeat(md5(random()::text), 64));\n")
    watch = Watch(server.process())
    watch.look()
    before = watch.totals()["postgres"][0]
    output = subprocess.run(
        [server.bin / "pgbench", "-n", "-M", "prepared", "-c", "4", "-T", "5", "-f", script, server.url()], check=True,
        capture_output=True, text=True).stdout
    watch.look()
    count = int(re.search(r"transactions actually processed: (\d+)", output)[1])
    rate = float(re.search(r"tps = ([\d.]+)", output)[1])
    each = 1000 * (watch.totals()["postgres"][0] - before) / count
    watch.end()
    print(f"pgbench, a row of 2 KB in each of its transactions on four connections: {rate:.0f} a second, {each:.3f} ms of processor "
          f"time in Postgres; a notification takes {postgres / each:.1f} times that")


APPS = [
    "com.example.app:1234567890:Production,Sandbox", "com.example.reader:1234567891:Production",
    "com.example.trainer:1234567892:Sandbox"]


def posted(directory, authority, url, count, simulated, process, *others):
    """Posts notifications that are signed before to a server, and returns what the simulator told, with the seconds of
    processor time of the server and of others."""
    try:
        ports.wait_until(f"{url} listens", 30, lambda: ports.get(url)[0])
        watch = Watch(process.pid, *others)
        told = json.loads(subprocess.run(
            [directory / "simulator", "run", "--presigned", "--json", "--count", str(count), "--target", url,
             "--authority", authority, "--timeout", "60", *simulated, *(word for app in APPS for word in ("--app", app))],
            check=True, capture_output=True, text=True).stdout)
        watch.look()
        seconds = sum(used for used, _ in watch.totals().values())
        watch.end()
        return told, seconds
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def peer(server, directory, work, authority, count, simulated, ours):
    """Prints what Apple's Python library costs behind an HTTP server of Python's, beside a run of the pipeline."""
    python = root / ".build/peers/bin/python"
    if not python.exists() or subprocess.run([python, "-c", "import appstoreserverlibrary, psycopg2"], capture_output=True).returncode:
        subprocess.run([sys.executable, "-m", "venv", root / ".build/peers"], check=True)
        subprocess.run(
            [python, "-m", "pip", "install", "--quiet", "app-store-server-library==3.1.2", "psycopg2-binary==2.9.13"], check=True)
    port = ports.free_port()
    server.sql("create database peer")
    url = server.url().removesuffix("postgres") + "peer"
    process = subprocess.Popen(
        [python, root / "Tests/Benchmarks/peer.py", str(port), authority / "root.pem", url, *APPS], start_new_session=True)
    told, seconds = posted(
        directory, authority, f"http://127.0.0.1:{port}/", count, simulated, process, server.process())
    stored = int(subprocess.run(
        [server.bin / "psql", "-XAtq", "-d", url, "-c", "select count(*) from peer_notification"],
        check=True, capture_output=True, text=True).stdout)
    rate, each = stored / told["seconds"], 1000 * seconds / stored
    print(f"\nApple's Python library, http.server and one insert in the request: {stored} rows, {rate:.0f} a second, "
          f"{each:.3f} ms of processor time each, answered within {told['p50']:.0f} / {told['p95']:.0f} / {told['p99']:.0f} ms "
          "(p50 / p95 / p99)")
    print(f"the pipeline takes {ours[0] / rate:.1f} times as many, at {ours[1] / each:.3f} of the processor time")


# A synchronous producer of lua-nginx-kafka keeps its sends in one buffer, so requests cannot share one: each makes its own.
NGINX = """
load_module {modules}/ndk_http_module.so;
load_module {modules}/ngx_http_lua_module.so;
daemon off;
worker_processes auto;
pid {work}/nginx.pid;
error_log {work}/nginx.log;
events {{ worker_connections 1024; }}
http {{
    access_log off;
    client_body_temp_path {work}/bodies;
    client_body_buffer_size 128k;
    server {{
        listen 127.0.0.1:{port};
        location = /v1/notifications {{
            content_by_lua_block {{
                ngx.req.read_body()
                local body = ngx.req.get_body_data()
                if not body then return ngx.exit(405) end
                local producer = require("nginx.kafka.producer"):new(
                    {{ {brokers} }}, {{ producer_type = "sync", required_acks = -1, api_version = 2 }})
                local sent, problem = producer:send("notifications.received", nil, body)
                if not sent then
                    ngx.log(ngx.ERR, problem)
                    return ngx.exit(503)
                end
            }}
        }}
    }}
}}
"""


def receivers(directory, work, authority, count, simulated):
    """Prints what `ingest` and nginx with lua-nginx-kafka cost for the same requests, before the same given Kafka."""
    servers, results = os.environ["KAFKA_BOOTSTRAP_SERVERS"], []
    for name in ("ingest", "nginx"):
        port = ports.free_port()
        if name == "ingest":
            command, environment = [directory / "ingest"], {
                "STOREKEEPER_INGEST_ADDRESS": f"127.0.0.1:{port}", "STOREKEEPER_ADMIN_ADDRESS": f"127.0.0.1:{ports.free_port()}"}
        else:
            brokers = ", ".join(
                '{{ host = "{}", port = {} }}'.format(*each.strip().rsplit(":", 1)) for each in servers.split(","))
            (work / "nginx.conf").write_text(
                NGINX.format(modules="/usr/lib/nginx/modules", work=work, port=port, brokers=brokers))
            command, environment = ["nginx", "-c", work / "nginx.conf", "-e", work / "nginx.log"], {}
        process = subprocess.Popen(command, start_new_session=True, env=os.environ | environment, stdout=subprocess.DEVNULL)
        told, seconds = posted(directory, authority, f"http://127.0.0.1:{port}/v1/notifications", count, simulated, process)
        accepted = told["answers"]["200"]
        results.append((accepted / told["seconds"], 1000 * seconds / accepted))
        print(f"{name}: {accepted} of {told['deliveries']} requests answered 200, {results[-1][0]:.0f} a second, {results[-1][1]:.3f} ms of "
              f"processor time each, answered within {told['p50']:.0f} / {told['p95']:.0f} / {told['p99']:.0f} ms (p50 / p95 / p99)")
    (ours, own), (rate, each) = results
    print(f"ingest takes {ours / rate:.1f} times as many, at {own / each:.2f} of the processor time")


def drain(directory, count, distribution, instances):
    """Prints how fast the workers store notifications that wait in Kafka, while nothing else runs. Returns whether all were stored."""
    signatures = three_verifications()
    workers = ("verifier", "deduplicator", "state-updater")
    with Deployment(directory, brokers=1, counts=dict.fromkeys(workers, instances), through_proxies=False, distribution=distribution,
                    database=Server) as deployment:
        ingest = deployment.named("ingest")
        deployment.webhook_proxy.port = ingest.port
        deployment.set_clock(ingest, 0)
        deployment.start(ingest)
        deployment.until_ready(ingest)
        deployment.start_simulator(count, 0, 1, duplicates=0, reorder=0, tampered=0, concurrency=64, subscriptions=max(10, count // 10))
        ports.wait_until("the simulator sends too slowly", 60 + count / 50, lambda: deployment.progress().get("isFinished"))
        deployment.simulator.stop()
        ingest.process.stop()
        broker = deployment.kafka.processes[1].child.pid if deployment.kafka else deployment.broker.child.pid
        started = [service for service in deployment.services if service.kind in workers]
        watch = Watch(broker, deployment.postgres.process())
        for service in started:
            deployment.set_clock(service, 0)
            deployment.start(service)
            watch.tops.add(service.process.child.pid)
        end, stored, moments = time.monotonic() + 60 + count / 50, 0, []
        while stored < count and time.monotonic() < end:
            time.sleep(0.25)
            stored = int(deployment.postgres.value("select count(*) from notification"))
            moments.append((time.monotonic(), stored))
        watch.end()
        # Neither the start nor the end, where not all partitions have records left.
        first, *_, last = [moment for moment in moments if count / 10 <= moment[1] <= count * 9 / 10]
        rate = (last[1] - first[1]) / (last[0] - first[0])
        print(f"\ndrained {stored} of {count} notifications with {instances} of each worker, nothing else running: {rate:.0f} a second from a tenth "
              f"to nine tenths; ms of processor time each, and the most memory of a process in MB")
        totals = watch.totals()
        for command, (seconds, megabytes) in sorted(totals.items(), key=lambda item: -item[1][0]):
            if seconds * 1000 / count >= 0.0005:
                print(f"{command:18} {1000 * seconds / count:7.3f} {megabytes:7.0f}")
        own = 1000 * sum(seconds for command, (seconds, _) in totals.items() if command not in APART | {"java"}) / count
        signatures = (signatures + three_verifications()) / 2
        print(f"{'the pipeline':18} {own:7.3f}, without the broker: {own / signatures:.1f} times three verifications of openssl ({signatures:.3f})")
        return stored == count


def idle(run, seconds):
    """Prints the share of a core that each process uses while no notification arrives."""
    time.sleep(30)  # until everything has started
    before = run.watch.totals()
    time.sleep(seconds)
    after = run.watch.totals()
    print("\nidle: % of a core by process")
    own = 0
    for command, (used, _) in sorted(after.items(), key=lambda item: item[1][0] - before.get(item[0], (0,))[0], reverse=True):
        share = 100 * (used - before.get(command, (0, 0))[0]) / seconds
        own += share if command not in APART else 0
        if share >= 0.01:
            print(f"{command:18} {share:7.2f}")
    print(f"{'the pipeline':18} {own:7.2f}, without simulator, development broker and checks")
    run.watch.end()
    run.process.send_signal(signal.SIGINT)
    run.process.communicate()


def main():
    parser = argparse.ArgumentParser(prog="Tests/Benchmarks/pipeline")
    parser.add_argument("--count", type=int, default=20000, help="notifications at full speed, signed before; 0: none")
    parser.add_argument("--peers", type=int, nargs="?", const=3000, help="beside so many through Apple's Python library")
    parser.add_argument("--rates", default="", help="also at these rates a second, such as 20,200, for 30 s each")
    parser.add_argument("--idle", type=int, default=0, help="also without traffic, for so many seconds")
    parser.add_argument("--drain", type=int, default=0, help="also with so many that wait in Kafka, while nothing else runs; the embedded broker "
                        "keeps some 40000")
    parser.add_argument("--kafka", metavar="DIRECTORY", help="an Apache Kafka distribution: --drain waits in one node of it, and each "
                        "of --rates also runs on one; needs Java")
    parser.add_argument("--instances", type=int, default=1, help="of verifier, deduplicator and state-updater each (default: 1)")
    parser.add_argument("programs", nargs="?", help="directory of release programs that are built already")
    options = parser.parse_args()
    directory = programs(options.programs)
    work = pathlib.Path(tempfile.mkdtemp(prefix="storekeeper-pipeline-"))
    work.chmod(0o755)
    server = Server(work / "postgres")
    several = [word for name in ("verifiers", "deduplicators", "state-updaters") for word in (f"--{name}", str(options.instances))]
    # The purchases are those of every run and of the peer.
    simulated = ["--seed", "1", "--subscriptions", str(max(10, options.count // 10)), "--duplicates", "0.05", "--reorder", "10",
                 "--tampered", "0.01"]
    try:
        clean = True
        if options.count:
            signatures = three_verifications()
            clean, *ours = show(
                Run(server, directory, "full_speed", "--json", "--presigned", "--count", str(options.count), *several, *simulated),
                signatures)
            pgbench(server, work, ours[2])
            if options.peers:
                authority = work / "authority"
                # Creates it.
                subprocess.run(
                    [directory / "simulator", "make", "--case", "test", "--authority", authority], check=True,
                    stdout=subprocess.DEVNULL)
                peer(server, directory, work, authority, options.peers, simulated, ours)
                if "KAFKA_BOOTSTRAP_SERVERS" in os.environ:
                    receivers(directory, work, authority, options.peers, simulated)
        for rate in filter(None, options.rates.split(",")):
            count = max(1, int(float(rate) * 30))
            name, flow = f"at_{rate.replace('.', '_')}_a_second", ("--json", "--count", str(count), "--rate", rate, *several)
            clean = show(Run(server, directory, name, *flow))[0] and clean
            if options.kafka:
                # A cluster of its own: the services of another database would read the records of the run before.
                node = kafka.Kafka(options.kafka, pathlib.Path(tempfile.mkdtemp(dir=work)), through_proxies=False, nodes=1)
                clean = show(Run(
                    server, directory, name + "_on_apache_kafka", *flow, KAFKA_BOOTSTRAP_SERVERS=node.bootstrap,
                    STOREKEEPER_REPLICATION_FACTOR="1"))[0] and clean
                node.close()
        if options.drain:
            clean = drain(directory, options.drain, options.kafka, options.instances) and clean
        if options.idle:
            # The wait of fetches is librdkafka's own: nothing arrives that the development broker would hold back.
            idle(Run(server, directory, "idle", "--rate", "0.01", KAFKA_FETCH_WAIT_MAX_MS="500"), options.idle)
        return 0 if clean else 1
    finally:
        server.stop("immediate")
        shutil.rmtree(work)


if __name__ == "__main__":
    sys.exit(main())
