"""Reads the signed originals that the ledger stores, from the description of the format alone: Shared/Storage/Ledger/SignedOriginal.swift.

A first byte 0 is followed by the original as it was received. After a first byte 1 a JWS follows as:

    header:     a number, 1 and up for one of the chains of the row, or 0, a length and that many bytes
    payload:    pieces, each 1 and a JWS, or twice its length and that many bytes; 0 ends them
    signature:  a length and that many bytes

Numbers have seven bits in a byte, the lowest first, and an eighth that says that more follow. Payloads and signatures are base64url
in the original, without padding.
"""
import base64
import json


class Damaged(Exception):
    """These bytes are not an original."""


def restored(stored, headers):
    """The original, from the stored bytes and the headers of the chains that the row names, in its order."""
    if stored[:1] == b"\0":
        return stored[1:]
    if stored[:1] != b"\1":
        raise Damaged(f"it begins with {stored[:1].hex() or 'nothing'}")
    reader = Reader(stored, headers)
    original = reader.jws()
    if reader.place != len(stored):
        raise Damaged(f"{len(stored) - reader.place} bytes are behind its end")
    return original


def decoded(jws):
    """The payload, and instead of each signed object in it that object's payload."""
    parts = jws.split(b".")
    if len(parts) != 3:
        raise Damaged(f"it has {len(parts)} parts instead of three")
    payload = json.loads(base64.urlsafe_b64decode(parts[1] + b"=" * (-len(parts[1]) % 4)))
    for holder in [value for value in payload.values() if isinstance(value, dict)]:
        for name, value in holder.items():
            if name.startswith("signed") and isinstance(value, str):
                holder[name] = decoded(value.encode())
    return payload


class Reader:
    def __init__(self, stored, headers):
        self.stored, self.headers, self.place = stored, headers, 1

    def jws(self):
        reference = self.number()
        if reference > len(self.headers):
            raise Damaged(f"it names chain {reference} of {len(self.headers)}")
        header = self.headers[reference - 1] if reference else self.take(self.number())
        pieces = []
        while (piece := self.number()) != 0:
            if piece != 1 and piece % 2:
                raise Damaged(f"a piece is marked {piece}")
            pieces.append(self.jws() if piece == 1 else self.take(piece // 2))
        return b".".join([header, encoded(b"".join(pieces)), encoded(self.take(self.number()))])

    def number(self):
        number, shift = 0, 0
        while True:
            byte = self.take(1)[0]
            number |= (byte & 127) << shift
            if byte < 128:
                return number
            shift += 7

    def take(self, count):
        if self.place + count > len(self.stored):
            raise Damaged("it is cut short")
        self.place += count
        return self.stored[self.place - count:self.place]


def encoded(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=")
