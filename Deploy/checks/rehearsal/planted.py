"""Plants one bug after the other: the checker must find each, and nothing where none is planted."""
import signal
import subprocess

from . import checker, falsified
from .deployment import Deployment
from .drain import drain
from .ports import wait_until
from .record import Record


def lost(deployment):
    """An offset is committed before its records were handled: the deduplicator's group is moved to the end by a consumer
    that does nothing, while the deduplicator and what repairs gaps are away."""
    for name in ["deduplicator", "scheduler"]:
        deployment.named(name).process.stop()
    wait_until("nothing is accepted", 60, lambda: len(Record(deployment.record).expected()) > 60)
    kcat = ["kcat", "-b", deployment.bootstrap, "-q", "-e"]
    first = [*kcat, "-C", "-t", "notifications.verified", "-o", "beginning", "-c", "1"]
    wait_until("nothing is verified", 60, lambda: subprocess.run(first, check=False, stdout=subprocess.PIPE, timeout=60).stdout)
    subprocess.run(
        [*kcat, "-G", "storekeeper.deduplicator", "-X", "fetch.wait.max.ms=10",
         "-X", "session.timeout.ms=6000", "-X", "auto.offset.reset=earliest", "notifications.verified"],
        check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=120)
    deployment.start(deployment.named("deduplicator"))


def stuck(deployment):
    """A worker stands still, and no supervisor restarts it."""
    deployment.named("verifier").process.send(signal.SIGSTOP)


def all_are_found(programs):
    """In running deployments first, then in what the one without a bug has stored and sent."""
    return all([is_found(programs, bug) for bug in [None, lost, stuck]])


def is_found(programs, bug):
    name = bug.__name__ if bug else "none"
    with Deployment(programs, brokers=1) as deployment:
        deployment.start_all()
        deployment.is_supervised = False
        deployment.start_simulator(150, 50, seed=3)
        if bug:
            bug(deployment)
        left = drain(deployment, 15 if bug else 60)
        record = Record(deployment.record)
        verdict = checker.check(record, deployment)
        verdict.stuck = left
        kinds = verdict.kinds()
        are_found = name in kinds if bug else not kinds and verdict.states == verdict.changes > 0
        tell(name, verdict, are_found)
        if not bug and are_found:
            deployment.stop_all(signal.SIGKILL)
            for name, verdict, is_right in falsified.all(deployment, record):
                tell(name, verdict, is_right)
                are_found = are_found and is_right
        return are_found


def tell(name, verdict, is_right):
    found = ", ".join(verdict.kinds()) or "nothing"
    print(f"planted {name}: the checker says {found}: {'right' if is_right else 'FAILED'}")
    for text in list(verdict.problems())[:1 if is_right else 10]:
        print(f"  {text[:200]}", flush=True)
