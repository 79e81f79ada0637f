"""The whole pipeline on this machine: started by Tests/Benchmarks/pipeline."""
import argparse
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

from rehearsal import postgres

root = pathlib.Path(__file__).parent.parent.parent
ticks = os.sysconf("SC_CLK_TCK")
# What a production pipeline does not run: the simulated App Store, and `storekeeper dev` with its broker and its checks.
APART = {"simulator", "storekeeper"}

FIGURES = """
    select jsonb_build_object(
        'notifications', (select count(*) from notification),
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
    """The processor time and the greatest memory of all descendants of some processes."""

    def __init__(self, *tops):
        super().__init__(daemon=True)
        self.tops, self.ended, self.seen = set(tops), threading.Event(), {}
        self.start()

    def run(self):
        while not self.ended.wait(0.1):
            self.look()

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

    def totals(self):
        """Seconds of processor time, and the memory of the largest process in MB, by command."""
        totals = {}
        for command, seconds, megabytes in self.seen.values():
            before = totals.get(command, (0, 0))
            totals[command] = (before[0] + seconds, max(before[1], megabytes))
        return totals

    def end(self):
        self.ended.set()
        self.join()


def three_verifications():
    """Milliseconds of three P-256 verifications on one core."""
    output = subprocess.run(
        ["openssl", "speed", "-mr", "-seconds", "3", "ecdsap256"], check=True, capture_output=True, text=True).stdout
    return 3000 / float([line for line in output.splitlines() if line.startswith("+F4:")][-1].split(":")[-1])


class Run:
    """One run of `storekeeper dev` with a database of its own."""

    def __init__(self, server, directory, name, *options):
        self.server, self.name = server, name
        server.sql(f"create database {name}")
        self.url = server.url().removesuffix("postgres") + name
        self.start = server.value("select pg_current_wal_lsn()")
        self.process = subprocess.Popen(
            [directory / "storekeeper", "dev", *options], stdout=subprocess.PIPE, text=True,
            env=os.environ | {"DATABASE_URL": self.url})
        self.watch = Watch(self.process.pid, server.process())

    def report(self):
        output, _ = self.process.communicate()
        self.watch.end()
        try:
            return json.loads(output)
        except json.JSONDecodeError:
            sys.exit(f"pipeline: storekeeper dev printed no result: {output}")

    def figures(self):
        shown = subprocess.run(
            [self.server.bin / "psql", "-XAtq", "-d", self.url, "-c", FIGURES.format(start=self.start)],
            check=True, capture_output=True, text=True)
        return json.loads(shown.stdout)


def percentiles(values):
    return " / ".join(f"{value:.0f}" for value in values) + " ms" if values else "none"


def show(run, signatures=None):
    """Prints what a run cost, and returns whether it was equal."""
    report, figures = run.report(), run.figures()
    count = figures["notifications"]
    print(f"\n{run.name.replace('_', ' ')}: {count} notifications, {report['perSecond']:.0f} a second; equal: {report['isClean']}")
    print("from webhook to state, p50 / p95 / p99:", percentiles(figures["state"]))
    print("from state to subscriptions.changed:", percentiles(figures["published"]))
    print(f"in Postgres, a notification: {figures['inserted'] / count:.1f} rows inserted, {figures['updated'] / count:.1f} "
          f"updated, {figures['wal'] / count:.0f} bytes of WAL, {figures['bytes'] / count:.0f} bytes of tables and indexes")
    totals = run.watch.totals()
    print("ms of processor time a notification, and the most memory of a process in MB")
    for command, (seconds, megabytes) in sorted(totals.items(), key=lambda item: -item[1][0]):
        if seconds * 1000 / count >= 0.0005:
            print(f"{command:18} {1000 * seconds / count:7.3f} {megabytes:7.0f}")
    own = 1000 * sum(seconds for command, (seconds, _) in totals.items() if command not in APART) / count
    print(f"{'the pipeline':18} {own:7.3f}, without simulator, development broker and checks")
    if signatures:
        print(f"{'three signatures':18} {signatures:7.3f}, openssl speed ecdsap256: the pipeline is {own / signatures:.1f} times that")
    return report["isClean"]


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
    parser.add_argument("--count", type=int, default=20000, help="notifications at full speed; 0: none")
    parser.add_argument("--rates", default="", help="also at these rates a second, such as 20,200, for 30 s each")
    parser.add_argument("--idle", type=int, default=0, help="also without traffic, for so many seconds")
    parser.add_argument("programs", nargs="?", help="directory of release programs that are built already")
    options = parser.parse_args()
    directory = programs(options.programs)
    work = pathlib.Path(tempfile.mkdtemp(prefix="storekeeper-pipeline-"))
    work.chmod(0o755)
    server = Server(work / "postgres")
    try:
        clean = True
        if options.count:
            run = Run(server, directory, "full_speed", "--json", "--count", str(options.count))
            clean = show(run, three_verifications())
        for rate in filter(None, options.rates.split(",")):
            count = max(1, int(float(rate) * 30))
            name = f"at_{rate.replace('.', '_')}_a_second"
            clean = show(Run(server, directory, name, "--json", "--count", str(count), "--rate", rate)) and clean
        if options.idle:
            idle(Run(server, directory, "idle", "--rate", "0.01"), options.idle)
        return 0 if clean else 1
    finally:
        server.stop("immediate")
        shutil.rmtree(work)


sys.exit(main())
