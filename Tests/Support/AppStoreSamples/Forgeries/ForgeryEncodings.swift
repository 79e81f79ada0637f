import AppStore
import Foundation
import Signatures

extension ForgeryMaterial {
    /// Texts that are not exactly what a compact JWS is, made from one that is.
    func encodings() throws -> [Forgery] {
        let good = try signed(envelope(transaction(), renewal()))
        let text = String(decoding: good, as: UTF8.self)
        let parts = text.split(separator: ".").map(String.init)
        func joined(_ header: String, _ payload: String, _ signature: String) -> [UInt8] {
            Array("\(header).\(payload).\(signature)".utf8)
        }
        func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }
        var cases: [(String, [UInt8])] = [
            ("empty", []), ("one segment", bytes(parts[0])), ("two segments", bytes(parts[0] + "." + parts[1])),
            ("a fourth segment", bytes(text + ".AAAA")), ("a fourth, empty segment", bytes(text + ".")),
            ("five segments, as encryption has", bytes(text + ".AAAA.AAAA")),
            ("an empty header", joined("", parts[1], parts[2])),
            ("an empty payload", joined(parts[0], "", parts[2])),
            ("an empty signature", joined(parts[0], parts[1], "")), ("dots only", bytes("..")),
            ("white space in front", bytes(" " + text)), ("a line feed behind", bytes(text + "\n")),
            ("a line feed inside", joined(parts[0], parts[1].prefix(64) + "\n" + parts[1].dropFirst(64), parts[2])),
            ("quotes around", bytes("\"\(text)\"")), ("a scheme in front", bytes("Bearer " + text)),
            ("a NUL behind", good + [0]), ("a byte beyond ASCII", good + [0xC3, 0xA9]),
            ("JSON instead of compact form", bytes(#"{"payload":"e30","signature":"AA"}"#)),
        ]
        for (index, name) in ["header", "payload", "signature"].enumerated() {
            func with(_ segment: String) -> [UInt8] {
                var changed = parts
                changed[index] = segment
                return bytes(changed.joined(separator: "."))
            }
            cases.append(("padding behind the \(name)", with(parts[index] + "=")))
            cases.append(("two paddings behind the \(name)", with(parts[index] + "==")))
            cases.append(("a plus in the \(name)", with("+" + parts[index].dropFirst())))
            cases.append(("a slash in the \(name)", with("/" + parts[index].dropFirst())))
            cases.append(("a space in the \(name)", with(" " + parts[index].dropFirst())))
        }
        var forgeries = cases.map { Forgery($0.0, .malformed, $0.1) }
        forgeries.append(Forgery("a letter too many in the signature", .signature, bytes(text + "A")))
        forgeries.append(Forgery("stray bits in the signature", .malformed, strayBits(good)))
        forgeries.append(Forgery("stray bits in the payload", .malformed, try strayBitsInPayload()))
        forgeries.append(Forgery("stray bits in the header", .malformed, try strayBitsInHeader()))
        let long = parts[1] + String(repeating: "A", count: 10 << 20)
        forgeries.append(Forgery("a payload of ten megabytes", .oversized, joined(parts[0], long, parts[2])))
        forgeries.append(Forgery("a header of ten megabytes", .oversized, joined(long, parts[1], parts[2])))
        forgeries.append(
            Forgery("ten megabytes of nothing", .oversized, [UInt8](repeating: UInt8(ascii: "A"), count: 10 << 20)))
        forgeries.append(
            Forgery("a megabyte of dots", .malformed, [UInt8](repeating: UInt8(ascii: "."), count: 1 << 20)))
        return forgeries
    }

    /// Changes bits of the last character that stand for nothing.
    private func strayBits(_ segmentLast: [UInt8]) -> [UInt8] {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
        var bytes = segmentLast
        if let last = bytes.last, let value = alphabet.firstIndex(of: last) {
            bytes[bytes.count - 1] = alphabet[value ^ 1]
        }
        return bytes
    }

    /// Both are signed over the text with the stray bits: only decoding can see them.
    private func strayBitsInPayload() throws -> [UInt8] {
        var payload = Array(json(envelope()).utf8)
        while payload.count % 3 != 1 { payload.insert(UInt8(ascii: " "), at: 0) }
        return try signedText(signer.headerSegment, strayBits(Base64.encode(payload, .url)))
    }

    private func strayBitsInHeader() throws -> [UInt8] {
        var header = CompactJWS.headerJSON(x5c: authority.x5c)
        while header.count % 3 != 1 { header.insert(UInt8(ascii: " "), at: 0) }
        return try signedText(strayBits(Base64.encode(header, .url)), Base64.encode(envelope().json, .url))
    }

    func signedText(_ header: [UInt8], _ payload: [UInt8]) throws -> [UInt8] {
        let text = header + [UInt8(ascii: ".")] + payload
        return text + [UInt8(ascii: ".")] + Base64.encode(try authority.leafKey.signature(over: text), .url)
    }
}
