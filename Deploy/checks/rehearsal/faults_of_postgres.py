"""What happens to Postgres. The names begin with it: such a fault has no other one of them beside it."""
import signal

from .fault import Fault


def restarts(deployment, random, scale):
    postgres = deployment.postgres
    mode = random.choice(["immediate", "fast"])
    return Fault("Postgres restarts", mode, random.choice([0, 2, 5]) * scale, lambda: postgres.stop(mode), postgres.start)


def is_read_only(deployment, random, scale):
    postgres = deployment.postgres
    return Fault("Postgres is read-only", "", 3 * scale, lambda: postgres.set_read_only(True),
                 lambda: postgres.set_read_only(False))


def is_occupied(deployment, random, scale):
    postgres, sockets = deployment.postgres, []

    def begin():
        sockets.extend(postgres.occupy())
        # Sessions that exist are of no use to a test of new ones.
        deployment.database_proxy.cut()

    def end():
        for connection in sockets:
            connection.close()
    return Fault("Postgres has no connections left", "", 3 * scale, begin, end)


def has_full_disk(deployment, random, scale):
    postgres = deployment.postgres
    return Fault("Postgres has no disk space left", "", 3 * scale, postgres.fill_disk, postgres.free_disk)


def fails_over(deployment, random, scale):
    postgres = deployment.postgres

    def end():
        postgres.fail_over()
        deployment.database_proxy.target = postgres.port
        deployment.database_proxy.cut()
    return Fault("Postgres fails over to a replica", "", 1 * scale, postgres.add_replica, end)


# A migration, a report, an update that waits for a coffee: the session is idle within its transaction.
LOCKS = {
    "lock table": "lock table subscription in access exclusive mode", "row locks": "select from subscription for update",
    "no new rows": "lock table notification in share row exclusive mode"}


def is_locked(deployment, random, scale):
    postgres, (detail, statement), sessions = deployment.postgres, random.choice(sorted(LOCKS.items())), []

    def begin():
        sessions.append(postgres.session(f"begin; {statement};"))
    return Fault("Postgres has a person's lock", detail, random.choice([5, 20]) * scale, begin,
                 lambda: sessions[0].send(signal.SIGKILL))


def stands_still(deployment, random, scale):
    """As with a disk that hangs: connections are there, and no answer comes."""
    postgres = deployment.postgres
    return Fault("Postgres stands still", "", random.choice([3, 12]) * scale, lambda: postgres.send(signal.SIGSTOP),
                 lambda: postgres.send(signal.SIGCONT))


def has_foreign_offset(deployment, random, scale):
    """As after a topic was deleted and made again: the record before the stored offset is another one, or none is there."""
    ahead = random.choice([2, 1000])
    updaters = [service for service in deployment.services if service.kind == "state-updater"]

    def begin():
        for service in updaters:
            deployment.stop_for_fault(service)

    def end():
        # Under “postgres” is a position that is none of Kafka's.
        deployment.postgres.sql(
            f"update consumer_position set next_offset = next_offset + {ahead} where next_offset > 0 and cluster <> 'postgres'")
        for service in updaters:
            deployment.start(service)
    return Fault("Postgres has stored offsets of another topic", f"{ahead} ahead", 3 * scale, begin, end, is_alone=True)
