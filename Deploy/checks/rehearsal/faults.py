"""The faults of Deploy/checks/faults: each begins, lasts, and ends; a seed decides which, when and how long."""
import signal
import time

# Errors of Kafka's protocol that clients must survive: timed out, leader unknown, not leader, coordinator loading, not
# available, moved, not enough replicas.
KAFKA_ERRORS = {
    "produce": [7, 3, 6, 19, 20], "fetch": [6, 3], "metadata": [5], "offsetCommit": [14, 15, 16, 7], "offsetFetch": [14, 16],
    "findCoordinator": [15], "joinGroup": [14, 16, 25], "syncGroup": [22, 27, 16], "heartbeat": [27, 25, 16],
}
GROUPS = ["storekeeper.verifier", "storekeeper.deduplicator", "storekeeper.state-updater", "storekeeper.recovery.pages"]


class Fault:
    """What is said of it, how long it lasts, and what begins and ends it."""

    def __init__(self, kind, detail, seconds, begin, end=lambda: None):
        self.kind, self.detail, self.seconds, self.begin, self.end = kind, detail, seconds, begin, end


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


def crash_postgres(deployment, random, scale):
    postgres = deployment.postgres
    mode = random.choice(["immediate", "fast"])
    return Fault("Postgres restarts", mode, random.choice([0, 2, 5]) * scale, lambda: postgres.stop(mode), postgres.start)


def read_only(deployment, random, scale):
    postgres = deployment.postgres
    return Fault("Postgres is read-only", "", 3 * scale, lambda: postgres.set_read_only(True),
                 lambda: postgres.set_read_only(False))


def occupied(deployment, random, scale):
    postgres, sockets = deployment.postgres, []

    def begin():
        sockets.extend(postgres.occupy())
        # Sessions that exist are of no use to a test of new ones.
        deployment.database_proxy.cut()

    def end():
        for connection in sockets:
            connection.close()
    return Fault("Postgres has no connections left", "", 3 * scale, begin, end)


def full_disk(deployment, random, scale):
    postgres = deployment.postgres
    return Fault("Postgres has no disk space left", "", 3 * scale, postgres.fill_disk, postgres.free_disk)


def fail_over(deployment, random, scale):
    postgres = deployment.postgres

    def end():
        postgres.fail_over()
        deployment.database_proxy.target = postgres.port
        deployment.database_proxy.cut()
    return Fault("Postgres fails over to a replica", "", 1 * scale, postgres.add_replica, end)


def clock_jumps(deployment, random, scale):
    # An hour ahead and back: librdkafka's threads that began to wait in between wait for an hour. The supervisor asks for
    # /livez every 5 s, and sees only then that the clock was set back. The hour cannot be the other way round: faketime gives
    # the false time, and not the false deadline, to cnd_timedwait, so that the library cannot even start.
    service, seconds = random.choice(deployment.services), random.choice([-20, -5, 5, 3600])
    return Fault("a service's clock jumps", f"{service.name} {seconds:+} s", 8 if seconds == 3600 else 4 * scale,
                 lambda: deployment.set_clock(service, seconds), lambda: deployment.set_clock(service, 0))


def node_dies(deployment, random, scale):
    # The controllers take a silent broker's partitions from it after 9 s.
    kafka, node, seconds = deployment.kafka, random.choice(list(deployment.kafka.processes)), random.choice([1, 12]) * scale
    return Fault("a Kafka node is killed", f"{node}", seconds, lambda: kafka.kill(node),
                 lambda: kafka.start(node))


def nodes_die(deployment, random, scale):
    kafka = deployment.kafka

    def begin():
        for node in kafka.processes:
            kafka.kill(node)

    def end():
        for node in kafka.processes:
            kafka.start(node)
    return Fault("all Kafka nodes are killed", "", 2 * scale, begin, end)


def node_stops(deployment, random, scale):
    kafka, node, seconds = deployment.kafka, random.choice(list(deployment.kafka.processes)), random.choice([3, 12]) * scale
    return Fault("a Kafka node stands still", f"{node}", seconds, lambda: kafka.send(node, signal.SIGSTOP),
                 lambda: kafka.send(node, signal.SIGCONT))


def nodes_restart(deployment, random, scale):
    """As an upgrade of the brokers: leaders and group coordinators move at each step."""
    def begin():
        for node in deployment.kafka.processes:
            deployment.kafka.restart(node)
    return Fault("Kafka's nodes restart one by one", "", 0, begin)


UNAVAILABLE = b"HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"


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


def broker_down(deployment, random, scale):
    number = random.choice([None, *range(1, deployment.brokers + 1)])
    which = "" if number is None else f" {number}"
    return Fault("Kafka brokers are away", f"all{which}" if number is None else f"broker{which}", random.choice([1, 4]) * scale,
                 lambda: deployment.break_broker(f"down{which}"), lambda: deployment.break_broker(f"up{which}"))


def broker_slow(deployment, random, scale):
    milliseconds = random.choice([50, 300])
    return Fault("Kafka brokers are slow", f"{milliseconds} ms", 3 * scale,
                 lambda: deployment.break_broker(f"slow {milliseconds}"), lambda: deployment.break_broker("slow 0"))


def broker_error(deployment, random, scale):
    request = random.choice(sorted(KAFKA_ERRORS))
    code, count = random.choice(KAFKA_ERRORS[request]), random.choice([1, 10])
    return Fault("Kafka answers errors", f"{request} {code}, {count} times", 2 * scale,
                 lambda: deployment.break_broker(f"error {request} {code} {count}"),
                 lambda: deployment.break_broker(f"error {request} 0"))


def broker_late(deployment, random, scale):
    # A join of a group, for one, may take as long as the slowest member needs.
    request, milliseconds = random.choice(sorted(KAFKA_ERRORS)), random.choice([1000, 8000])

    def begin():
        for broker in range(1, deployment.brokers + 1):
            deployment.break_broker(f"late {request} {milliseconds} {broker}")
    return Fault("Kafka answers a request late", f"{request} {milliseconds} ms", 1, begin)


def coordinator_moves(deployment, random, scale):
    group, broker = random.choice(GROUPS), random.randint(1, deployment.brokers)
    return Fault("a group coordinator moves", f"{group} to {broker}", 1,
                 lambda: deployment.break_broker(f"coordinator {group} {broker}"))


def leader_moves(deployment, random, scale):
    topic = random.choice(["notifications.received", "notifications.verified", "notifications.unique"])
    partitions, broker = random.sample(range(16), 8), random.randint(1, deployment.brokers)

    def begin():
        for partition in partitions:
            deployment.break_broker(f"leader {topic} {partition} {broker}")
    return Fault("partition leaders move", f"8 of {topic}", 1, begin)


def apple(deployment, random, scale):
    fault = random.choice([
        {"fault": "storm", "milliseconds": 500}, {"fault": "slow", "milliseconds": 2000}, {"fault": "close"},
        {"fault": "error", "errorCode": 5000001}, {"fault": "expiredTokens", "count": 2}])
    seconds = max(1, int(4 * scale))
    return Fault("Apple's API", fault["fault"], seconds, lambda: deployment.break_apple(**fault, seconds=seconds))


KINDS = [kill, kill, kill, terminate, stop, stop, rebalances, crash_postgres, fail_over, read_only, occupied,
         network("Postgres", lambda deployment: [deployment.database_proxy]),
         network("ingest", lambda deployment: [deployment.webhook_proxy], "503", "503"),
         network("Apple's API", lambda deployment: [deployment.apple_proxy], "503"), apple]
EMBEDDED_BROKERS = [broker_down, broker_slow, broker_error, broker_error, broker_late, coordinator_moves, leader_moves]
KAFKA = [node_dies, node_dies, nodes_die, node_stops, nodes_restart,
         network("Kafka", lambda deployment: list(deployment.kafka.proxies.values()))]


def plan(deployment, chance, scale=1.0):
    """Faults without end, in rounds in which each kind occurs once, every third beside another one."""
    kinds = KINDS + (KAFKA if deployment.kafka else EMBEDDED_BROKERS)
    kinds += ([full_disk] if deployment.postgres.disk else []) + ([clock_jumps] if deployment.can_set_clocks() else [])
    while True:
        order = chance.sample(kinds, len(kinds))
        while order:
            together = [order.pop() for _ in range(min(len(order), chance.choice([1, 1, 2])))]
            begun = [kind(deployment, chance, scale) for kind in together]
            # A database that is away, or has a full disk, takes no other fault and cannot be told to end one.
            yield begun[:1] if all(fault.kind.startswith("Postgres") for fault in begun) else begun


def strike(faults, said):
    """Begins all, waits, ends each when it is over."""
    begun = time.monotonic()
    for fault in faults:
        said(fault)
        fault.begin()
    for fault in sorted(faults, key=lambda fault: fault.seconds):
        time.sleep(max(0, begun + fault.seconds - time.monotonic()))
        fault.end()
