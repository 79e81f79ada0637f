"""What a purchase has to be after some of its notifications, by the simulator's record alone.

Status and renewal are those of the notification signed last; the transaction is the one charged last, and the simulator counts
transaction ids up as it charges. When it gives access the simulator writes down for every notification, from what happened.
"""
import collections
import datetime

from .record import signed

TRANSACTION = ["productId", "purchaseDate", "expiresDate", "revocationDate", "revocationReason", "appAccountToken"]
RENEWAL = ["autoRenewStatus", "autoRenewProductId", "isInBillingRetryPeriod", "gracePeriodExpiresDate", "expirationIntent"]
FACTS = ["status", "transactionId", *TRANSACTION, *RENEWAL]
Access = collections.namedtuple("Access", ["hasAccess", "accessUntil", "productId"])


def charged(line):
    return len(line["transactionId"]), line["transactionId"], signed(line)


class Purchase:
    """Takes the notifications in the order in which they were applied."""

    def __init__(self, lines):
        """All genuine notifications about it, in the order of their signing."""
        self.places = {line["uuid"]: place for place, line in enumerate(lines)}
        self.schedules, known = [], []
        for line in lines:
            known = line["access"] if line.get("access") is not None else known
            self.schedules.append(known)
        self.applied, self.newest = [], None
        self.status = self.transaction = self.renewal = self.named = None
        # That bought it.
        self.accounts = set()

    def apply(self, line):
        self.applied.append(self.places[line["uuid"]])
        self.newest = max(self.newest or line, line, key=signed)
        said = line.get("facts")
        if not said:
            return
        if said.get("status") is not None:
            self.status = max(self.status or line, line, key=signed)
        if said.get("autoRenewStatus") is not None:
            self.renewal = max(self.renewal or line, line, key=signed)
        self.transaction = max(self.transaction or line, line, key=charged)
        self.named = max(self.named or line, line, key=signed)
        if said.get("appAccountToken"):
            self.accounts.add(said["appAccountToken"])

    def facts(self):
        facts = dict.fromkeys(FACTS)
        if self.status:
            facts["status"] = self.status["facts"]["status"]
        if self.transaction:
            facts["transactionId"] = self.transaction["transactionId"]
            facts |= {name: self.transaction["facts"].get(name) for name in TRANSACTION}
        if self.renewal:
            facts |= {name: self.renewal["facts"].get(name) for name in RENEWAL}
        return facts

    def owner(self):
        """The account that the notification signed last names."""
        return self.named and self.named["facts"].get("appAccountToken")

    def knows_all(self):
        """Whether nothing is missing before the notification signed last."""
        return len(self.applied) == max(self.applied) + 1

    def access(self, moment):
        """Every answer at a moment that is right. Where earlier notifications are missing, one cannot know what they said: then
        it is that of any notification that was applied."""
        places = [max(self.applied)] if self.knows_all() else self.applied
        # In the future of the services' clock nothing has happened yet, and grace that is over is forgotten.
        if moment < self.newest["signedDate"] and any(period["isGrace"] for period in self.schedules[max(self.applied)]):
            return None
        return {self._answer(self.schedules[place], moment) for place in places}

    def _answer(self, periods, moment):
        current = next((period for period in periods if period["startsAt"] <= moment < period.get("endsAt", float("inf"))), None)
        if not current:
            return Access(False, None, self.facts()["productId"])
        until = current.get("endsAt")
        for period in sorted(periods, key=lambda period: period["startsAt"]):
            if until is not None and period["startsAt"] == until and period["productId"] == current["productId"]:
                until = period.get("endsAt")
        return Access(True, until, current["productId"])


def text(name, value):
    """A fact as the timeline writes it."""
    if value is None:
        return None
    if name.endswith("Date"):
        moment = datetime.datetime.fromtimestamp(value // 1000, datetime.timezone.utc)
        return f"{moment:%Y-%m-%dT%H:%M:%S}.{value % 1000:03}Z"
    if name == "autoRenewStatus":
        return "true" if value == 1 else "false"
    return str(value).lower() if isinstance(value, bool) else str(value)


def changes(before, after):
    """As the timeline has to tell them: fact, from, to."""
    pairs = [(name, text(name, before[name]), text(name, after[name])) for name in FACTS]
    return {pair for pair in pairs if pair[1] != pair[2]}
