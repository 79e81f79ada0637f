"""What happens to the embedded brokers, and to the nodes of an Apache Kafka."""
import signal

from .drain import unfinished
from .fault import Fault
from .ports import Unmet, wait_until
from .proxy import UNAVAILABLE

# Errors of Kafka's protocol that clients must survive: timed out, leader unknown, not leader, coordinator loading, not
# available, moved, not enough replicas.
KAFKA_ERRORS = {
    "produce": [7, 3, 6, 19, 20], "fetch": [6, 3], "metadata": [5], "offsetCommit": [14, 15, 16, 7], "offsetFetch": [14, 16],
    "findCoordinator": [15], "joinGroup": [14, 16, 25], "syncGroup": [22, 27, 16], "heartbeat": [27, 25, 16],
}
GROUPS = ["storekeeper.verifier", "storekeeper.deduplicator", "storekeeper.state-updater", "storekeeper.recovery.pages"]


def broker_down(deployment, random, scale):
    number = random.choice([None, *range(1, deployment.brokers + 1)])
    which = "" if number is None else f" {number}"
    return Fault("Kafka brokers are away", f"all{which}" if number is None else f"broker{which}", random.choice([1, 4]) * scale,
                 lambda: deployment.break_broker(f"down{which}"), lambda: deployment.break_broker(f"up{which}"))


def broker_unreachable(deployment, random, scale):
    """For the services only: the others still count it among the replicas, and it keeps its partitions."""
    seconds = random.choice([4, 12]) * scale
    if not deployment.kafka:
        number = random.randint(1, deployment.brokers)
        return Fault("one broker is unreachable", f"{number}", seconds, lambda: deployment.break_broker(f"down {number}"),
                     lambda: deployment.break_broker(f"up {number}"))
    node = random.choice(list(deployment.kafka.proxies))
    proxy = deployment.kafka.proxies[node]

    def begin():
        proxy.is_refusing = True
        proxy.cut()
    return Fault("one broker is unreachable", f"{node}", seconds, begin, proxy.heal)


def topics_made_again(deployment, random, scale):
    """All of them, under the same cluster id and without their records, after every record has had its effect."""
    proxy = deployment.webhook_proxy

    def begin():
        proxy.answer = UNAVAILABLE
        proxy.cut()

    def end():
        try:
            wait_until("what was accepted has no effect", 120, lambda: not unfinished(deployment))
            deployment.replace_broker()
        except Unmet:
            # The checker says what it is; without its records it would never come.
            pass
        proxy.heal()
    return Fault("all topics are made again", "", 1, begin, end, is_alone=True)


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
