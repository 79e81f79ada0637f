"""The faults of Deploy/checks/faults: each begins, lasts, and ends; a seed decides which, when and how long."""
import signal
import time

from . import faults_of_kafka as kafka
from . import faults_of_postgres as postgres
from .fault import Fault
from .proxy import UNAVAILABLE


def kill(deployment, random, scale):
    service = random.choice(deployment.services)

    def begin():
        service.is_killed = True
        service.process.send(signal.SIGKILL)
    return Fault("kill -9", service.name, 1, begin)


def terminate(deployment, random, scale):
    service = random.choice(deployment.services)

    def begin():
        service.is_killed = True
        service.process.send(signal.SIGTERM)
    return Fault("SIGTERM", service.name, 2, begin)


def stop(deployment, random, scale):
    service = random.choice(deployment.services)
    # Shorter and longer than the group's session timeout of 6 s.
    seconds = random.choice([1, 3, 9]) * scale
    process = []

    def begin():
        process.append(service.process)
        service.process.send(signal.SIGSTOP)
    return Fault("SIGSTOP", service.name, seconds, begin, lambda: process[0].send(signal.SIGCONT))


def rebalances(deployment, random, scale):
    """Each arrival and each departure has the group divide its partitions again."""
    kind, added = random.choice(["verifier", "deduplicator", "state-updater", "recovery"]), []
    return Fault("instances come and go", f"3 × {kind}", 5 * scale, lambda: added.extend(deployment.add(kind, 3)),
                 lambda: deployment.remove(added))


def clock_jumps(deployment, random, scale):
    # An hour ahead and back: librdkafka's threads that began to wait in between wait for an hour. The supervisor asks for
    # /livez every 5 s, and sees only then that the clock was set back. The hour cannot be the other way round: faketime gives
    # the false time, and not the false deadline, to cnd_timedwait, so that the library cannot even start.
    service, seconds = random.choice(deployment.services), random.choice([-20, -5, 5, 3600])
    return Fault("a service's clock jumps", f"{service.name} {seconds:+} s", 8 if seconds == 3600 else 4 * scale,
                 lambda: deployment.set_clock(service, seconds), lambda: deployment.set_clock(service, 0))


def network(name, proxies, *more):
    """Connections through all of them, or through one."""
    def fault(deployment, random, scale):
        way, links = random.choice(["cut", "slow", "silent", "rejected", *more]), proxies(deployment)
        links = random.choice([links, [random.choice(links)]])

        def begin():
            for link in links:
                link.delay, link.is_held, link.is_refusing = 0.2 * (way == "slow"), way == "silent", way == "rejected"
                link.answer = UNAVAILABLE if way == "503" else None
                if way in ("cut", "rejected", "503"):
                    link.cut()

        def end():
            for link in links:
                link.heal()
        return Fault(f"connections to {name}", way, 3 * scale, begin, end)
    return fault


def apple(deployment, random, scale):
    fault = random.choice([
        {"fault": "storm", "milliseconds": 500}, {"fault": "slow", "milliseconds": 2000}, {"fault": "close"},
        {"fault": "error", "errorCode": 5000001}, {"fault": "expiredTokens", "count": 2}])
    seconds = max(1, int(4 * scale))
    return Fault("Apple's API", fault["fault"], seconds, lambda: deployment.break_apple(**fault, seconds=seconds))


KINDS = [kill, kill, kill, terminate, stop, stop, rebalances, postgres.restarts, postgres.fails_over, postgres.is_read_only,
         postgres.is_occupied, postgres.is_locked, postgres.stands_still, postgres.has_foreign_offset, kafka.broker_unreachable,
         network("Postgres", lambda deployment: [deployment.database_proxy]),
         network("ingest", lambda deployment: [deployment.webhook_proxy], "503", "503"),
         network("Apple's API", lambda deployment: [deployment.apple_proxy], "503"), apple]
EMBEDDED_BROKERS = [kafka.broker_down, kafka.broker_slow, kafka.broker_error, kafka.broker_error, kafka.broker_late,
                    kafka.coordinator_moves, kafka.leader_moves, kafka.topics_made_again]
KAFKA = [kafka.node_dies, kafka.node_dies, kafka.nodes_die, kafka.node_stops, kafka.nodes_restart,
         network("Kafka", lambda deployment: list(deployment.kafka.proxies.values()))]
# Can be chosen alone.
NAMED = {"lock": postgres.is_locked, "hang": postgres.stands_still, "offset": postgres.has_foreign_offset,
         "unreachable": kafka.broker_unreachable, "topics": kafka.topics_made_again}


def plan(deployment, chance, scale=1.0, names=()):
    """Faults without end, in rounds in which each kind occurs once, every third beside another one. With names, only those."""
    kinds = KINDS + (KAFKA if deployment.kafka else EMBEDDED_BROKERS)
    kinds += [postgres.has_full_disk] if deployment.postgres.disk else []
    kinds += [clock_jumps] if deployment.can_set_clocks() else []
    kinds = [NAMED[name] for name in names] or kinds
    while True:
        order = chance.sample(kinds, len(kinds))
        while order:
            together = [order.pop() for _ in range(min(len(order), chance.choice([1, 1, 2])))]
            begun = [kind(deployment, chance, scale) for kind in together]
            # A database that is away, or has a full disk, takes no other fault and cannot be told to end one.
            if any(fault.is_alone for fault in begun) or all(fault.kind.startswith("Postgres") for fault in begun):
                begun = begun[:1]
            yield begun


def strike(faults, said):
    """Begins all, waits, ends each when it is over."""
    begun = time.monotonic()
    for fault in faults:
        said(fault)
        fault.begin()
    for fault in sorted(faults, key=lambda fault: fault.seconds):
        time.sleep(max(0, begun + fault.seconds - time.monotonic()))
        fault.end()
