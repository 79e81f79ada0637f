"""A node of Apache Kafka for a script: DISTRIBUTION WORK. Writes its address to WORK/kafka; SIGHUP kills it and starts it again."""
import pathlib
import signal
import sys

from rehearsal.kafka import Kafka

work = pathlib.Path(sys.argv[2])
kafka = Kafka(sys.argv[1], work, through_proxies=False, nodes=1)
NODE, = kafka.nodes


def restart(*_):
    kafka.kill(NODE)
    kafka.start(NODE)


signal.signal(signal.SIGHUP, restart)
signal.signal(signal.SIGTERM, lambda *_: sys.exit())
(work / "kafka").write_text(kafka.bootstrap)
try:
    while True:
        signal.pause()
finally:
    kafka.close()
