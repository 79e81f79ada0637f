import AppStore
import Development
import Digests
import Foundation
import Signatures

extension ForgeryMaterial {
    /// Genuine headers over payloads that the key behind them did not sign.
    func signatures() throws -> [Forgery] {
        let good = try signed(envelope(transaction(), renewal()))
        let other = try signed(envelope { $0.notificationUUID = "00000000-0000-4000-8000-000000000000" })
        let goodParts = segments(good)
        let otherParts = segments(other)
        let text = goodParts[0] + "." + goodParts[1]
        func with(_ signature: [UInt8]) -> [UInt8] {
            Array((text + "." + String(decoding: Base64.encode(signature, .url), as: UTF8.self)).utf8)
        }
        func swapped(_ header: String, _ payload: String, _ signature: String) -> [UInt8] {
            Array("\(header).\(payload).\(signature)".utf8)
        }
        let raw = rawSignature(good)
        let (r, s) = (Array(raw[..<32]), Array(raw[32...]))
        let zero = [UInt8](repeating: 0, count: 32)
        let highest = [UInt8](repeating: 0xFF, count: 32)
        let one = [UInt8](repeating: 0, count: 31) + [1]
        let key = authority.leafKey
        var cases: [(String, [UInt8])] = [
            ("in DER", with(try key.derSignature(over: Array(text.utf8)))),
            ("of 63 bytes", with(Array(raw.dropLast()))),
            ("of 65 bytes", with(raw + [0])), ("of one byte", with([0])), ("of 96 bytes", with(raw + zero)),
            ("with r zero", with(zero + s)), ("with s zero", with(r + zero)), ("all zero", with(zero + zero)),
            ("with r the order", with(Self.order + s)), ("with s the order", with(r + Self.order)),
            ("with r beyond the order", with(highest + s)), ("with s beyond the order", with(r + highest)),
            ("all ones", with(highest + highest)), ("of one and one", with(one + one)),
            ("with r and s swapped", with(s + r)),
            ("of another payload", swapped(goodParts[0], goodParts[1], otherParts[2])),
            ("under another payload", swapped(goodParts[0], otherParts[1], goodParts[2])),
            ("by a stranger's key", with(try stranger.leafKey.signature(over: Array(text.utf8)))),
            ("over the payload alone", with(try key.signature(over: Array(goodParts[1].utf8)))),
            (
                "over the decoded payload",
                with(try key.signature(over: Base64.decode(ArraySlice(goodParts[1].utf8), .url) ?? []))
            ),
            ("over a dot more", with(try key.signature(over: Array((text + ".").utf8)))),
            ("over a digest of the digest", with(try key.signature(over: SHA256Hash.digest(Array(text.utf8))))),
        ]
        for bit in [0, 7, 255, 256, 300, 511] {
            var changed = raw
            changed[bit / 8] ^= 1 << UInt8(bit % 8)
            cases.append(("with bit \(bit) changed", with(changed)))
        }
        // A chain of its own: once a chain is rejected, that is the reason for everything under it.
        let foreignHeader = Base64.encode(CompactJWS.headerJSON(x5c: try DevelopmentAuthority(now: now).x5c), .url)
        let another = try underTrustedRoot()
        return cases.map { Forgery("a signature \($0.0)", .signature, $0.1) } + [
            Forgery(
                "a stranger's header over a genuine payload", .signature,
                swapped(String(decoding: foreignHeader, as: UTF8.self), goodParts[1], goodParts[2])),
            Forgery(
                "another genuine header over a genuine payload", .signature,
                swapped(segments(another)[0], goodParts[1], goodParts[2])),
            Forgery("a payload changed by one letter", .signature, altered(good)),
        ]
    }

    static let order: [UInt8] = [
        0xFF, 0xFF, 0xFF, 0xFF, 0x00, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
        0xBC, 0xE6, 0xFA, 0xAD, 0xA7, 0x17, 0x9E, 0x84, 0xF3, 0xB9, 0xCA, 0xC2, 0xFC, 0x63, 0x25, 0x51,
    ]

    func segments(_ jws: [UInt8]) -> [String] {
        String(decoding: jws, as: UTF8.self).split(separator: ".").map(String.init)
    }

    private func rawSignature(_ jws: [UInt8]) -> [UInt8] {
        Base64.decode(ArraySlice(segments(jws)[2].utf8), .url) ?? []
    }

    /// A letter of the payload changed for another, so that it still decodes.
    func altered(_ jws: [UInt8]) -> [UInt8] {
        var changed = jws
        if let dot = jws.firstIndex(of: UInt8(ascii: ".")) {
            changed[dot + 10] = changed[dot + 10] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
        }
        return changed
    }

    /// n − s signs what s signs; ECDSA has it so, and Apple signs with either.
    func mirrored(_ jws: [UInt8]) throws -> [UInt8] {
        let parts = segments(jws)
        let raw = rawSignature(jws)
        var difference = [UInt8](repeating: 0, count: 32)
        var borrow = 0
        for index in (0..<32).reversed() {
            let value = Int(Self.order[index]) - Int(raw[32 + index]) - borrow
            difference[index] = UInt8(truncatingIfNeeded: value)
            borrow = value < 0 ? 1 : 0
        }
        let signature = String(decoding: Base64.encode(raw[..<32] + difference, .url), as: UTF8.self)
        return Array("\(parts[0]).\(parts[1]).\(signature)".utf8)
    }
}
