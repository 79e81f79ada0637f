"""What the checks of the console share: the running services, their database, and what was found wrong."""
import os
import pathlib
import re
import signal
import subprocess
import time

postgres = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin"))[-1]
problems = []


def say(text):
    print(f"console: {text}", flush=True)


def wait_until(what, seconds, condition):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := condition():
            return found
        time.sleep(0.2)
    raise SystemExit(f"console: FAILED: {what}")


class Development:
    """`devkit dev`, with what it printed."""

    def __init__(self, programs, directory):
        self.log, self.paused = directory / "dev.log", []
        self.process = subprocess.Popen(
            [programs / "devkit", "dev", "--keep", directory / "kept", "--rate", "40", "--subscriptions", "80",
             "--tampered", "0.05", "--seed", "7"],
            stdout=open(self.log, "wb"), stderr=subprocess.STDOUT, start_new_session=True)

    def said(self, pattern):
        if self.process.poll() is not None:
            raise SystemExit(f"console: FAILED: devkit dev ended:\n{self.log.read_text()[-2000:]}")
        return re.search(pattern, self.log.read_text(errors="replace"))

    def environment(self):
        file = wait_until("no file of variables", 120, lambda: self.said(r"another terminal: \. (\S+)")).group(1)
        self.directory = pathlib.Path(file).parent
        lines = re.findall(r"^export (\w+)='(.*)'$", pathlib.Path(file).read_text(), re.MULTILINE)
        return {**os.environ, **{name: value.replace("'\\''", "'") for name, value in lines}}

    def simulators(self):
        found = subprocess.run(["pgrep", "-P", str(self.process.pid), "-x", "simulator"], capture_output=True, text=True)
        return [int(each) for each in found.stdout.split()]

    def pause(self):
        """No more notifications: the browser needs the processor for itself."""
        self.paused = self.simulators()
        for each in self.paused:
            os.kill(each, signal.SIGSTOP)

    def stop(self):
        for each in self.paused:
            os.kill(each, signal.SIGCONT)
        self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()


class Database:
    def __init__(self, environment):
        self.environment = {name: value for name, value in environment.items() if name != "PGOPTIONS"}

    def value(self, sql):
        done = subprocess.run(
            [postgres / "psql", "--no-psqlrc", "--tuples-only", "--no-align", "--set=ON_ERROR_STOP=1",
             self.environment["DATABASE_URL"], "--command", sql],
            env=self.environment, capture_output=True, text=True, check=True)
        return done.stdout.strip()
