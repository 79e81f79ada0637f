"""A private Postgres that can crash, fill its disk and refuse connections."""
import os
import pathlib
import re
import shutil
import socket
import struct
import subprocess

from .ports import free_port, wait_until
from .process import Process


def programs():
    """The directory of the server's programs, newest version."""
    found = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin/postgres"), key=lambda path: float(path.parts[4]))
    if not found:
        raise SystemExit("Postgres is not installed. As root: apt-get install -y --no-install-recommends postgresql")
    return found[-1].parent


class Postgres:
    """Everything listens on 127.0.0.1; all connections are trusted unless `authentication` says otherwise."""

    def __init__(self, directory, authentication="trust", has_own_disk=False):
        self.bin, self.directory, self.port = programs(), pathlib.Path(directory), free_port()
        self.is_root = os.geteuid() == 0
        self.disk, self.database = None, "postgres"
        self.directory.mkdir(mode=0o755, parents=True, exist_ok=True)
        if has_own_disk and self.is_root:
            subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2g", "postgres", str(self.directory)], check=True)
            self.disk = self.directory
        if self.is_root:
            shutil.chown(self.directory, "postgres", "postgres")
        self.data = self.directory / "data"
        self._run("initdb", "-D", self.data, "-U", "storekeeper", f"--auth={authentication}", "--no-sync")
        self.start()

    def settings(self):
        return {
            "listen_addresses": "127.0.0.1", "unix_socket_directories": "''", "max_connections": 80,
            "fsync": "off", "max_wal_size": "512MB", "shared_buffers": "128MB",
        }

    def start(self):
        self._start(self.data, self.port)

    def _start(self, data, port):
        options = " ".join(f"-c {name}={value}" for name, value in {**self.settings(), "port": port}.items())
        self._run("pg_ctl", "-D", data, "-s", "-w", "-t", "120", "-l", self.directory / "log", "-o", options, "start")

    def stop(self, mode="fast"):
        """`immediate` is a crash: sessions end, and what was under way is recovered from the log."""
        if self.is_running():
            self._run("pg_ctl", "-D", self.data, "-s", "-w", "-m", mode, "stop")

    def is_running(self):
        return self._run("pg_ctl", "-D", self.data, "status", check=False).returncode == 0

    def url(self, user="storekeeper", port=None):
        return f"postgres://{user}@127.0.0.1:{port or self.port}/{self.database}"

    def sql(self, text, check=True):
        """Rows of texts; null is an empty text."""
        done = subprocess.run(
            [str(self.bin / "psql"), "--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--field-separator=\x1f",
             "--record-separator=\x1e", "--set=ON_ERROR_STOP=1", f"--command={text}", self.url()],
            capture_output=True, text=True, env=os.environ | {"PGCONNECT_TIMEOUT": "10"})
        if done.returncode != 0:
            if check:
                raise RuntimeError(f"SQL failed: {text}: {done.stderr.strip()}")
            return None
        return [row.split("\x1f") for row in done.stdout.removesuffix("\n").split("\x1e") if row != ""]

    def value(self, text):
        return self.sql(text)[0][0]

    def rows(self, *queries):
        """Rows of texts of several queries at one moment, as they arrive, each behind the number of its query; null is an empty
        text."""
        commands = ["begin isolation level repeatable read read only"]
        for query in queries:
            commands += [f"\\echo {NEXT}", f"copy ({query}) to stdout"]
        with subprocess.Popen(
                [str(self.bin / "psql"), "--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1",
                 *[f"--command={command}" for command in commands], self.url()],
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace") as psql:
            number = -1
            for line in psql.stdout:
                if line == f"{NEXT}\n":
                    number += 1
                else:
                    yield number, *map(unescaped, line.removesuffix("\n").split("\t"))
            error = psql.stderr.read()
        if psql.returncode != 0:
            raise RuntimeError(f"SQL failed: {error.strip()}")

    # Backup and restore

    def back_up(self, directory):
        """A base backup of the running server, with the write-ahead log that it needs."""
        self.run("pg_basebackup", "--pgdata", directory, "--host=127.0.0.1", f"--port={self.port}", "--username=storekeeper",
                 "--checkpoint=fast", "--wal-method=stream")

    def restore(self, directory):
        """Replaces the data by a backup; what came after it is gone."""
        self.stop("immediate")
        shutil.rmtree(self.data)
        pathlib.Path(directory).rename(self.data)
        self.start()

    # Failover

    def add_replica(self):
        """A streaming replica that has to confirm each commit before the client learns of it."""
        self.replica, self.replica_port = self.directory / f"replica-{free_port()}", free_port()
        self.run("pg_basebackup", "--pgdata", self.replica, "--host=127.0.0.1", f"--port={self.port}", "--username=storekeeper",
                 "--checkpoint=fast", "--wal-method=stream", "--write-recovery-conf")
        self._start(self.replica, self.replica_port)
        self.sql("alter system set synchronous_standby_names = '*'")
        self.sql("select pg_reload_conf()")
        wait_until("the replica does not follow", 60, lambda: self.value(
            "select count(*) from pg_stat_replication where sync_state = 'sync'") == "1")

    def fail_over(self):
        """The primary crashes for good; the replica, with another address, takes its place."""
        self.stop("immediate")
        shutil.rmtree(self.data)
        self.data, self.port = self.replica, self.replica_port
        self.run("pg_ctl", "-D", self.data, "-s", "-w", "promote")
        # It has none of its own.
        self.sql("alter system reset synchronous_standby_names")
        self.sql("select pg_reload_conf()")

    # Faults

    def set_read_only(self, is_read_only):
        self.sql(f"alter system set default_transaction_read_only = {'on' if is_read_only else 'off'}")
        self.sql("set default_transaction_read_only = off; select pg_reload_conf()")

    def session(self, script):
        """A person's session, which has begun with this and stays; what it holds is free when its process ends."""
        person = Process(
            [self.bin / "psql", "--no-psqlrc", "--quiet", self.url()], self.directory.parent / "postgres-programs.log",
            stdin=subprocess.PIPE)
        person.child.stdin.write(f"{script}\n".encode())
        person.child.stdin.flush()
        return person

    def send(self, number):
        """A signal to the server and to its processes; to the server first, so that it starts no more of them."""
        server = int((self.data / "postmaster.pid").read_text().split()[0])
        os.kill(server, number)
        for process in pathlib.Path("/proc").glob("[0-9]*/stat"):
            try:
                # Behind the name in brackets: state, parent.
                if int(process.read_text().rpartition(")")[2].split()[1]) == server:
                    os.kill(int(process.parent.name), number)
            except (OSError, ValueError):
                continue

    def occupy(self):
        """Takes all connections that are left to ordinary users, and returns their sockets."""
        message = struct.pack("!i", 196608) + b"user\0occupant\0database\0postgres\0\0"
        message = struct.pack("!i", len(message) + 4) + message
        taken = []
        while len(taken) < 200:
            connection = socket.create_connection(("127.0.0.1", self.port), timeout=5)
            connection.sendall(message)
            if connection.recv(1) != b"R":
                connection.close()
                break
            taken.append(connection)
        return taken

    def fill_disk(self):
        """Only with a disk of its own."""
        with open(self.disk / "filler", "wb", buffering=0) as filler:
            try:
                while filler.write(bytes(1 << 20)):
                    pass
            except OSError:
                pass

    def free_disk(self):
        (self.disk / "filler").unlink(missing_ok=True)
        if not self.is_running():
            self._run("pg_ctl", "-D", self.data, "-s", "-m", "immediate", "stop", check=False)
            self.start()

    def close(self):
        if self.is_running():
            self._run("pg_ctl", "-D", self.data, "-s", "-m", "immediate", "stop", check=False)
        if self.disk:
            subprocess.run(["umount", "--lazy", str(self.disk)], check=False)

    def run(self, program, *arguments, check=True):
        """One of the server's programs, as the user that the server runs as."""
        return self._run(program, *arguments, check=check)

    def _run(self, program, *arguments, check=True):
        command = [str(self.bin / program), *map(str, arguments)]
        if self.is_root:
            command = ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups", "--", *command]
        # A server that pg_ctl starts keeps its output open: a file, not a pipe.
        with open("/dev/null") as nothing, open(self.directory.parent / "postgres-programs.log", "a+") as log:
            done = subprocess.run(command, stdin=nothing, stdout=log, stderr=log, cwd="/")
            if check and done.returncode != 0:
                log.seek(0)
                raise RuntimeError(f"{program} failed: {log.read()[-2000:]}")
        return done


# A line that no row is.
NEXT = "\x1d"
ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


def unescaped(field):
    """A field of COPY's text format."""
    if "\\" not in field:
        return field
    if field == "\\N":
        return ""
    return re.sub(r"\\(.)", lambda found: ESCAPES.get(found[1], found[1]), field)
