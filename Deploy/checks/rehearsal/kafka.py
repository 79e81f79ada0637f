"""Nodes of Apache Kafka."""
import base64
import os
import pathlib
import shutil
import signal
import socket
import struct
import subprocess
import uuid

from .ports import free_port, is_open, wait_until
from .process import Process
from .proxy import Proxy

# Small: the nodes share this machine with everything else.
JAVA = {"KAFKA_HEAP_OPTS": "-Xms128m -Xmx512m", "KAFKA_JVM_PERFORMANCE_OPTS": "-XX:+UseSerialGC", "KAFKA_JMX_OPTS": " "}
# Of a partition, 128 MiB are kept: more than ever waits, and an hour's records fill no disk.
SETTINGS = """
process.roles=broker,controller
node.id={node}
controller.quorum.voters={voters}
controller.listener.names=CONTROLLER
inter.broker.listener.name=BROKERS
listeners=SERVICES://127.0.0.1:{services},BROKERS://127.0.0.1:{brokers},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=SERVICES://127.0.0.1:{advertised},BROKERS://127.0.0.1:{brokers}
listener.security.protocol.map=SERVICES:PLAINTEXT,BROKERS:PLAINTEXT,CONTROLLER:PLAINTEXT
log.dirs={directory}
num.network.threads=2
num.io.threads=4
auto.create.topics.enable=false
min.insync.replicas={confirming}
offsets.topic.replication.factor={nodes}
offsets.topic.num.partitions=6
log.segment.bytes=33554432
log.retention.bytes=134217728
"""


def cluster_id(bootstrap):
    """As a broker answers it to a Metadata request of version 2 that asks for no topic."""
    host, port = bootstrap.split(",")[0].rsplit(":", 1)
    request = struct.pack("!hhih4si", 3, 2, 1, 4, b"kcat", 0)
    with socket.create_connection((host, int(port)), timeout=10) as connection, connection.makefile("rb") as answer:
        def text():
            return answer.read(max(0, struct.unpack("!h", answer.read(2))[0])).decode()
        connection.sendall(struct.pack("!i", len(request)) + request)
        _, _, brokers = struct.unpack("!iii", answer.read(12))
        for _ in range(brokers):
            # Its id, host, port and rack.
            answer.read(4)
            text()
            answer.read(4)
            text()
        return text()


class Kafka:
    """A cluster of nodes, each a broker and a controller, and each behind a proxy that the services connect to.

    Without proxies, `proxies` is empty and the services connect to the nodes.
    """

    def __init__(self, distribution, work, through_proxies=True, nodes=3):
        self.distribution, self.work, self.nodes = pathlib.Path(distribution).resolve(), work, range(1, nodes + 1)
        self.processes, self.ports = {}, {node: (free_port(), free_port(), free_port()) for node in self.nodes}
        self.proxies = {node: Proxy(services) for node, (services, _, _) in self.ports.items() if through_proxies}
        advertised = {node: self.proxies[node].port if through_proxies else self.ports[node][0] for node in self.nodes}
        self.bootstrap = ",".join(f"127.0.0.1:{port}" for port in advertised.values())
        self.cluster = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
        voters = ",".join(f"{node}@127.0.0.1:{controller}" for node, (_, _, controller) in self.ports.items())
        for node, (services, brokers, controller) in self.ports.items():
            self._settings(node).write_text(SETTINGS.format(
                node=node, voters=voters, services=services, brokers=brokers, controller=controller,
                advertised=advertised[node], directory=self._directory(node), nodes=nodes, confirming=min(2, nodes)))
        self._start_empty()

    def _start_empty(self):
        for node in self.nodes:
            subprocess.run(
                [self.distribution / "bin/kafka-storage.sh", "format", f"--cluster-id={self.cluster}", "-c", self._settings(node)],
                env=self._environment(node), check=True, stdout=subprocess.DEVNULL)
        for node in self.nodes:
            self.start(node)
        self.until_all_started()

    def erase(self):
        """The same cluster id and addresses, without topics, records and groups."""
        self.close()
        for node in self.nodes:
            shutil.rmtree(self._directory(node))
        self._start_empty()

    def _directory(self, node):
        return self.work / f"kafka-{node}"

    def _settings(self, node):
        return self.work / f"kafka-{node}.properties"

    def _environment(self, node):
        return {"PATH": os.environ["PATH"], "LOG_DIR": str(self.work / f"kafka-{node}-logs")} | JAVA

    def start(self, node):
        """Of two faults, the other one may have started it."""
        if node in self.processes and self.processes[node].is_running():
            return
        self.processes[node] = Process(
            [self.distribution / "bin/kafka-server-start.sh", self._settings(node)], self.work / f"kafka-{node}.log",
            environment=self._environment(node))

    def until_all_started(self):
        for node in self.nodes:
            self.until_started(node)

    def until_started(self, node):
        """It opens the port when it has its part of the metadata."""
        wait_until(f"Kafka's node {node} does not start", 120, lambda: is_open(self.ports[node][0]))

    def kill(self, node):
        """Waits for the end: on a busy machine a process may outlive its signal by seconds."""
        self.send(node, signal.SIGKILL)
        self.processes[node].child.wait()

    def send(self, node, number):
        self.processes[node].send(number)

    def restart(self, node):
        self.processes[node].stop(60)
        self.start(node)
        self.until_started(node)

    def close(self):
        for node in self.processes:
            self.kill(node)
