"""All services on this machine with a broker, a database and the simulated App Store, under a supervisor."""
import json
import os
import pathlib
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

from . import evidence
from .kafka import Kafka, cluster_id
from .ports import Unmet, free_port, get, wait_until
from .postgres import Postgres
from .process import Process, Service
from .proxy import Proxy

TABLE = {service["name"]: service
         for service in json.loads((pathlib.Path(__file__).parents[2] / "services.json").read_text())}
# All but the console, which people use.
SERVICES = [name for name in TABLE if name != "console"]
# MiB that a service may use.
MEMORY = {name: TABLE[name]["memory"] for name in SERVICES}
# Debian's package libfaketime.
CLOCKS = pathlib.Path("/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1")
# The services that use the database, each with its role.
ROLES = {name: name.replace("-", "_") for name in SERVICES if TABLE[name]["database"]}
# What no other deployment wants: there is no responder, and a killed scheduler's windows are soon another's.
REHEARSED = {"verifier": {"STOREKEEPER_REVOCATION": "off"}, "scheduler": {"STOREKEEPER_WINDOW_LEASE": "4s"}}
# Those that Apple's notifications pass, without ingest.
WORKERS = [name for name in SERVICES if TABLE[name]["reads"]]


class Deployment:
    """Use as a context manager: everything ends with it."""

    def __init__(self, binaries, brokers=3, counts=None, settings=None, own_disk=False, through_proxies=True,
                 binaries_of=None, distribution=None, database=Postgres):
        self.binaries = pathlib.Path(binaries).resolve()
        self.binaries_of, self.settings = binaries_of or {}, settings or {}
        self.work = pathlib.Path(tempfile.mkdtemp(prefix="storekeeper-rehearsal-"))
        self.work.chmod(0o755)
        self.brokers, self.own_disk, self.through_proxies = brokers, own_disk, through_proxies
        # The directory of an Apache Kafka distribution: as many nodes of it instead of the embedded brokers.
        self.distribution, self.kafka, self.database = distribution, None, database
        self.services = []
        for kind in SERVICES:
            count = (counts or {}).get(kind, 1)
            names = [kind] if count == 1 else [f"{kind}-{number}" for number in range(1, count + 1)]
            self.services += [Service(kind, name) for name in names]
        # What the supervisor did: restarts after a fault of ours, of services that ended by themselves, of hung ones.
        self.restarts, self.exits, self.hangs = 0, [], []
        # Set by a run that came to a bad end: its logs are kept.
        self.has_failed = False
        self.is_supervised, self._is_over = True, threading.Event()
        self._pids = []
        # Of each cluster that was replaced: what the ledger had then, and its messages.
        self.earlier = []

    def __enter__(self):
        try:
            self._set_up()
        except BaseException:
            self.__exit__(*sys.exc_info())
            raise
        return self

    def __exit__(self, kind, error, trace):
        self._is_over.set()
        if getattr(self, "supervisor", None):
            self.supervisor.join()
        for service in self.services:
            if service.process:
                service.process.send(signal.SIGKILL)
        for process in [getattr(self, name, None) for name in ["simulator", "broker"]]:
            if process:
                process.send(signal.SIGKILL)
        for pid in self._pids:
            # A process with a clock of its own leaves them when it is killed.
            for name in [f"faketime_shm_{pid}", f"sem.faketime_sem_{pid}"]:
                pathlib.Path("/dev/shm", name).unlink(missing_ok=True)
        if self.kafka:
            self.kafka.close()
        if getattr(self, "postgres", None):
            self.postgres.close()
        is_good = kind in (None, KeyboardInterrupt) or (kind is SystemExit and not error.code)
        if self.has_failed or not is_good:
            # What explains a failure: the logs and the simulator's record.
            for name in ["postgres", "kafka-1", "kafka-2", "kafka-3"]:
                shutil.rmtree(self.work / name, ignore_errors=True)
            print(f"  its logs: {self.work}", file=sys.stderr)
        else:
            shutil.rmtree(self.work, ignore_errors=True)

    def program(self, name, kind=None):
        return self.binaries_of.get(kind or name, self.binaries) / name

    def log(self, name):
        return self.work / f"{name}.log"

    def dropped_records(self):
        """The services that found records gone before they had read them: the embedded brokers keep 5 MB of a partition."""
        return [service.name for service in self.services
                if "Offset out of range" in self.log(service.name).read_text(errors="replace")]

    # Setting up

    def _set_up(self):
        self.start_broker()
        self.postgres = self.database(self.work / "postgres", has_own_disk=self.own_disk)
        self.database_proxy = Proxy(self.postgres.port)
        self.authority = self.work / "authority"
        subprocess.run(
            [self.program("simulator"), "make", "--case=test", f"--authority={self.authority}"], check=True,
            stdout=subprocess.DEVNULL)
        self._make_api_keys()
        self.apps = [{"bundleId": "com.example.app", "appAppleId": 1234567890, "environments": ["Production", "Sandbox"]}]
        (self.work / "apps.json").write_text(json.dumps(self.apps))
        self.record_keys = self.work / "record-keys"
        self.write_record_keys([secrets.token_hex(32)])
        self.webhook_key = self.work / "webhook-key"
        self.webhook_key.write_text(secrets.token_hex(32))
        self.webhook_key.chmod(0o600)
        self.set_up()
        for role in ROLES.values():
            self.postgres.sql(f"create user {role} in role storekeeper_{role}")
        ingest = next(service for service in self.services if service.kind == "ingest")
        self.webhook_proxy = Proxy(ingest.port)
        self.api_port = free_port()
        self.apple_proxy = Proxy(self.api_port)

    def start_broker(self):
        """A new cluster: it knows nothing of an earlier one."""
        if self.distribution:
            self.kafka = Kafka(self.distribution, self.work, self.through_proxies, self.brokers)
            self.bootstrap = self.kafka.bootstrap
            return
        command = [self.program("devkit"), "broker", f"--brokers={self.brokers}", "--faults"]
        self.broker = Process(command, self.log("broker"), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.bootstrap = self.broker.child.stdout.readline().decode().strip()

    def replace_broker(self):
        """Its topics are made again, without their records, and what was stored under the old cluster id is under the new one."""
        self.stop_all()
        self.earlier.append((set(evidence.Evidence(self.postgres).stored), evidence.changed_messages(self.bootstrap)))
        if self.kafka:
            self.kafka.erase()
        else:
            self.broker.stop()
            self.start_broker()
        self.set_up()
        identity = cluster_id(self.bootstrap)
        for table in ["consumer_position", "rejected"]:
            # Under “postgres” is a position that is none of Kafka's.
            self.postgres.sql(f"update {table} set cluster = '{identity}' where cluster <> 'postgres'")
        for service in self.services:
            self.start(service)
        for service in self.services:
            self.until_ready(service)
        self.is_supervised = True

    def changed_messages(self):
        """Of all clusters, one after the other."""
        return [message for _, messages in self.earlier for message in messages] + evidence.changed_messages(self.bootstrap)

    def set_up(self, program=None):
        """Runs `setup`."""
        done = subprocess.run(
            [program or self.program("setup")], env=self.environment() | {
                "DATABASE_URL": self.postgres.url(), "STOREKEEPER_REPLICATION_FACTOR": str(self.brokers)},
            capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"setup failed: {done.stderr[-2000:]}")

    def _make_api_keys(self):
        """The simulator makes the keys of its API when it first runs, and lists them."""
        maker = Process(
            [self.program("simulator"), "run", "--target=http://127.0.0.1:1/", f"--authority={self.authority}", "--count=1",
             "--api-address=127.0.0.1:0"], self.log("simulator"))
        wait_until("the simulator makes no API keys", 20, (self.authority / "api-keys.json").exists)
        maker.stop()

    def write_record_keys(self, keys):
        replacement = self.work / "record-keys.new"
        replacement.write_text("\n".join(keys))
        replacement.chmod(0o600)
        replacement.rename(self.record_keys)

    def environment(self):
        # The embedded broker answers an empty fetch only after the full wait.
        wait = {} if self.kafka else {"KAFKA_FETCH_WAIT_MAX_MS": "10"}
        return {"PATH": os.environ["PATH"], "KAFKA_BOOTSTRAP_SERVERS": self.bootstrap, "KAFKA_SESSION_TIMEOUT_MS": "6000",
                "KAFKA_HEARTBEAT_INTERVAL_MS": "1000"} | wait

    def database_port(self):
        return self.database_proxy.port if self.through_proxies else self.postgres.port

    def environment_of(self, service):
        variables = self.environment() | {
            "STOREKEEPER_ADMIN_ADDRESS": f"127.0.0.1:{service.admin}", "STOREKEEPER_SHUTDOWN_DEADLINE": "15s"}
        kind = service.kind
        if kind in ROLES:
            variables["DATABASE_URL"] = self.postgres.url(ROLES[kind], self.database_port())
        if TABLE[kind]["recordKeys"]:
            variables["STOREKEEPER_RECORD_KEYS_FILE"] = str(self.record_keys)
        if TABLE[kind]["apple"]:
            variables |= {"STOREKEEPER_APPS_FILE": str(self.work / "apps.json"), "STOREKEEPER_DEVELOPMENT_MODE": "true",
                          "STOREKEEPER_ROOT_FILES": str(self.authority / "root.pem")}
        if TABLE[kind]["apple"] == "api":
            variables |= {"STOREKEEPER_APP_STORE_API_KEYS_FILE": str(self.authority / "api-keys.json"),
                          "STOREKEEPER_APP_STORE_API_URL": f"http://127.0.0.1:{self.apple_proxy.port}"}
        if TABLE[kind].get("sends"):
            variables["STOREKEEPER_WEBHOOK_KEY_FILE"] = str(self.webhook_key)
        if TABLE[kind]["port"]:
            variables[f"STOREKEEPER_{kind.upper()}_ADDRESS"] = f"127.0.0.1:{service.port}"
        return variables | TABLE[kind].get("local", {}) | REHEARSED.get(kind, {}) | self.settings.get(kind, {})

    # Services

    def start(self, service, more=None):
        """With more variables, until the supervisor starts it again."""
        service.process = Process(
            [self.program(service.kind)], self.log(service.name),
            environment=self.environment_of(service) | self._clock_of(service) | (more or {}))
        self._pids.append(service.process.child.pid)
        service.started, service.failures, service.is_killed, service.due = time.monotonic(), 0, False, 0.0

    @staticmethod
    def can_set_clocks():
        """With the package faketime."""
        return CLOCKS.exists()

    def _clock_of(self, service):
        """The wall clock of a service is the machine's plus what the file says. Its monotonic clock never jumps."""
        if not self.can_set_clocks():
            return {}
        return {"LD_PRELOAD": str(CLOCKS), "FAKETIME_TIMESTAMP_FILE": str(self._clock_file(service)),
                "FAKETIME_CACHE_DURATION": "1", "FAKETIME_DONT_FAKE_MONOTONIC": "1"}

    def _clock_file(self, service):
        return self.work / f"clock-of-{service.name}"

    def set_clock(self, service, seconds):
        new = self.work / "clock.new"
        new.write_text(f"{seconds:+}")
        new.rename(self._clock_file(service))

    def is_ready(self, service):
        return get(f"http://127.0.0.1:{service.admin}/readyz")[0] == 200

    def start_all(self):
        for service in self.services:
            self.set_clock(service, 0)
            self.start(service)
        for service in self.services:
            self.until_ready(service)
        # Threads' children end with their thread: the supervisor starts its own and lives as long as this object.
        self.supervisor = threading.Thread(target=self._supervise, daemon=True)
        self.supervisor.start()

    def restart(self, service):
        """SIGTERM, the end, a new process that is ready; the supervisor stays out of it. Returns the exit code."""
        code = self.stop_for_fault(service)
        self.start(service)
        self.until_ready(service)
        return code

    def stop_for_fault(self, service):
        """The supervisor stays out of it until the service is started again. Returns the exit code."""
        service.is_killed, service.due = True, float("inf")
        return service.process.stop()

    def add(self, kind, count):
        """More instances of a service, until `remove`."""
        more = [Service(kind, f"{kind}-more-{number}") for number in range(1, count + 1)]
        for service in more:
            self.set_clock(service, 0)
            self.start(service)
        self.services = self.services + more
        return more

    def remove(self, services):
        self.services = [service for service in self.services if service not in services]
        for service in services:
            service.process.send(signal.SIGTERM)
        for service in services:
            service.process.stop()

    def stop_all(self, number=signal.SIGTERM):
        self.is_supervised = False
        time.sleep(0.5)
        for service in self.services:
            service.is_killed = True
            service.process.send(number)
        for service in self.services:
            service.process.child.wait()

    def until_ready(self, service, seconds=90):
        try:
            wait_until(f"{service.name} does not become ready", seconds, lambda: self.is_ready(service))
        except Unmet as unmet:
            answer = get(f"http://127.0.0.1:{service.admin}/readyz")[1]
            raise Unmet(f"{unmet}: {answer}; its log ends with:\n{self.log(service.name).read_text()[-1500:]}") from None

    def named(self, name):
        return next(service for service in self.services if service.name == name)

    def _supervise(self):
        """What docker-compose.yml and the Kubernetes base do: restarts what ended, and what fails /livez three times."""
        while not self._is_over.wait(0.25):
            for service in self.services if self.is_supervised else []:
                now = time.monotonic()
                if service.process.is_running():
                    self._probe(service, now)
                elif service.due == 0.0:
                    if not service.is_killed:
                        self.exits.append(f"{service.name} with {service.process.child.returncode}")
                    service.due = now + 1
                elif now >= service.due:
                    self.restarts += 1
                    self.start(service)

    def _probe(self, service, now):
        if now < service.started + 20 + 5 * service.failures or service.is_killed:
            return
        if now < getattr(service, "probed", 0) + 5:
            return
        service.probed = now
        status, text = get(f"http://127.0.0.1:{service.admin}/livez")
        service.failures = 0 if status == 200 else service.failures + 1
        if service.failures >= 3:
            self.hangs.append(f"{service.name}: {text.strip()}")
            service.is_killed = True
            service.process.send(signal.SIGKILL)

    # Broker and simulator

    def break_broker(self, line):
        """One of the lines of `devkit broker --faults`."""
        self.broker.child.stdin.write(f"{line}\n".encode())
        self.broker.child.stdin.flush()
        answer = self.broker.child.stdout.readline().decode().strip()
        if answer != "ok":
            raise RuntimeError(f"the broker rejected “{line}”: {answer}")

    @property
    def record(self):
        return self.work / "record.jsonl"

    def start_simulator(self, count, rate, seed, skew=0, **more):
        options = {"count": count, "rate": rate, "seed": seed, "duplicates": 0.1, "reorder": 20, "tampered": 0.03,
                   "retry-scale": 360000, "timeout": 15, "clock-skew": skew, "api-limit-scale": 10} | more
        self.simulator = Process(
            [self.program("simulator"), "run", f"--target=http://127.0.0.1:{self.webhook_proxy.port}/v1/notifications",
             f"--authority={self.authority}", f"--record={self.record}", "--retry-sandbox",
             "--environment=Production", "--environment=Sandbox", f"--api-address=127.0.0.1:{self.api_port}",
             *[f"--{name}={value}" for name, value in options.items()]], self.log("simulator"))

    def progress(self):
        status, text = get(f"http://127.0.0.1:{self.api_port}/simulator/progress")
        return json.loads(text) if status == 200 else {}

    def break_apple(self, **fault):
        get(f"http://127.0.0.1:{self.api_port}/simulator/faults", body=json.dumps(fault).encode(), method="POST")

    def operator(self, *arguments):
        """A command of `storekeeper`, as an operator runs it."""
        environment = self.environment() | {
            "DATABASE_URL": self.postgres.url(), "STOREKEEPER_APPS_FILE": str(self.work / "apps.json"),
            "STOREKEEPER_ROOT_FILES": str(self.authority / "root.pem"), "STOREKEEPER_DEVELOPMENT_MODE": "true",
            "STOREKEEPER_APP_STORE_API_KEYS_FILE": str(self.authority / "api-keys.json"),
            "STOREKEEPER_APP_STORE_API_URL": f"http://127.0.0.1:{self.api_port}",
            "STOREKEEPER_RECORD_KEYS_FILE": str(self.record_keys), "STOREKEEPER_WEBHOOK_KEY_FILE": str(self.webhook_key)}
        return subprocess.run(
            [self.program("storekeeper"), *arguments], env=environment, capture_output=True, text=True)
