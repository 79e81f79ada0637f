"""Plants one bug of each kind in a running deployment: the checker must find it."""
import signal
import subprocess

from . import checker
from .deployment import Deployment
from .drain import drain
from .ports import wait_until


def lost(deployment):
    """An offset is committed before its records were handled: the deduplicator's group is moved to the end by a consumer
    that does nothing, while the deduplicator and what repairs gaps are away."""
    for name in ["deduplicator", "scheduler"]:
        deployment.named(name).process.stop()
    wait_until("nothing is verified", 60, lambda: len(checker.Record(deployment.record).expected()) > 60)
    subprocess.run(
        ["kcat", "-b", deployment.bootstrap, "-q", "-e", "-G", "storekeeper.deduplicator", "-X", "fetch.wait.max.ms=10",
         "-X", "session.timeout.ms=6000", "-X", "auto.offset.reset=earliest", "notifications.verified"],
        check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=120)
    deployment.start(deployment.named("deduplicator"))


def twice(deployment):
    """The effect of a notification is written without asking whether it was before."""
    deployment.postgres.sql("""
        create function planted() returns trigger language plpgsql as $$ begin
            if pg_trigger_depth() = 1 and new.revision = 3 then
                insert into timeline (occurred_at, applied_at, revision, status, access_until, notification_uuid, environment,
                    has_access, is_auto_renewing, original_transaction_id, bundle_id, event, product_id, changes)
                values (new.occurred_at, new.applied_at, new.revision, new.status, new.access_until, new.notification_uuid,
                    new.environment, new.has_access, new.is_auto_renewing, new.original_transaction_id, new.bundle_id,
                    new.event, new.product_id, new.changes);
            end if;
            return new;
        end $$;
        create trigger planted after insert on timeline for each row execute function planted()""")


def wrong(deployment):
    """Access ends a millisecond too early."""
    deployment.postgres.sql("""
        create function planted() returns trigger language plpgsql as $$ begin
            new.period = tstzrange(lower(new.period), upper(new.period) - interval '1 millisecond');
            return new;
        end $$;
        create trigger planted before insert on access_period for each row execute function planted()""")


def stuck(deployment):
    """A worker stands still, and no supervisor restarts it."""
    deployment.named("verifier").process.send(signal.SIGSTOP)


def all_are_found(programs):
    are_found = True
    for bug in [None, lost, twice, wrong, stuck]:
        name = bug.__name__ if bug else "none"
        with Deployment(programs, brokers=1) as deployment:
            deployment.start_all()
            deployment.is_supervised = False
            deployment.start_simulator(150, 50, seed=3)
            if bug:
                bug(deployment)
            left = drain(deployment, 60 if bug in (None, twice, wrong) else 15)
            verdict = checker.check(checker.Record(deployment.record), deployment.postgres, deployment.bootstrap)
            verdict.stuck = left
            found = [kind for kind in ["lost", "twice", "wrong", "stuck"] if getattr(verdict, kind)]
            is_found = name in found if bug else not found
            are_found = are_found and is_found
            print(f"planted {name}: the checker says {', '.join(found) or 'nothing'}: {'right' if is_found else 'FAILED'}")
            for text in list(verdict.problems())[:3]:
                print(f"  {text}", flush=True)
    return are_found
