"""The simulator's record of what it sent, as the simulator wrote it down."""
import collections
import json


class Record:
    """Notifications and attempts of a file, up to a line that is still being written."""

    def __init__(self, path):
        self.notifications, self.attempts = {}, collections.defaultdict(list)
        if not path.exists():
            return
        with open(path) as file:
            for text in file:
                if not text.endswith("\n"):
                    break
                line = json.loads(text)
                if line["line"] == "notification":
                    self.notifications[line["uuid"]] = line
                elif line["line"] == "attempt":
                    self.attempts[line["uuid"]].append(line)

    def is_accepted(self, uuid):
        return any(200 <= (attempt.get("status") or 0) <= 206 for attempt in self.attempts[uuid])

    def genuine(self):
        return {uuid: line for uuid, line in self.notifications.items() if not line.get("expectedRejection")}

    def forged(self):
        return {uuid: line for uuid, line in self.notifications.items() if line.get("expectedRejection")}

    def expected(self):
        """Genuine notifications that must be in the ledger: accepted, or given up, which Apple's history lists."""
        return {uuid for uuid in self.genuine() if self.attempts[uuid]}

    def expected_dead_letters(self):
        return {uuid for uuid in self.forged() if self.is_accepted(uuid)}

    def purchases(self):
        """The genuine notifications about each purchase, in the order in which they were signed."""
        purchases = collections.defaultdict(list)
        for line in self.genuine().values():
            if line.get("originalTransactionId"):
                purchases[line["environment"], line["originalTransactionId"]].append(line)
        for lines in purchases.values():
            lines.sort(key=signed)
        return purchases


def signed(line):
    """Of one purchase no two notifications are equal in it."""
    return line["signedDate"], line["uuid"]
