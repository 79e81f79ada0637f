"""What strikes: a kind of fault in one of its forms."""


class Fault:
    """What is said of it, how long it lasts, and what begins and ends it; and whether no other fault may be beside it."""

    def __init__(self, kind, detail, seconds, begin, end=lambda: None, is_alone=False):
        self.kind, self.detail, self.seconds, self.begin, self.end = kind, detail, seconds, begin, end
        self.is_alone = is_alone
