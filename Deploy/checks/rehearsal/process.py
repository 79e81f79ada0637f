"""Programs that a rehearsal runs."""
import signal
import subprocess

from .ports import free_port


class Process:
    """A child that ends with this one."""

    def __init__(self, command, log, environment=None, stdin=None, stdout=None):
        output = open(log, "ab")
        self.command = command
        self.child = subprocess.Popen(
            ["setpriv", "--pdeathsig=KILL", "--", *map(str, command)], stdin=stdin or subprocess.DEVNULL,
            stdout=stdout or output, stderr=output, env=environment, start_new_session=True)
        output.close()

    def is_running(self):
        return self.child.poll() is None

    def send(self, number):
        if self.is_running():
            self.child.send_signal(number)

    def stop(self, seconds=20):
        self.send(signal.SIGCONT)
        self.send(signal.SIGTERM)
        try:
            return self.child.wait(seconds)
        except subprocess.TimeoutExpired:
            self.send(signal.SIGKILL)
            return self.child.wait()


class Service:
    """An instance of a service, and what its supervisor knows of it."""

    def __init__(self, kind, name):
        self.kind, self.name = kind, name
        self.admin, self.port = free_port(), free_port()
        self.process, self.started, self.due, self.failures = None, 0.0, 0.0, 0
        # Ended by a fault of ours; what else ends was its own decision.
        self.is_killed = False
