/// Finds a key that occurs twice in one object.
///
/// Small objects without escapes, which is all that Apple sends, are compared by fingerprints of eight bytes. Others go
/// through a set, whose hashing is seeded per process: no document can make this quadratic.
struct JSONKeyCheck {
    private static let comparedDirectly = 64
    private var fingerprints: [UInt64] = []

    mutating func check(object: Int, tape: [JSONNode], base: UnsafePointer<UInt8>) throws(JSONFault) {
        fingerprints.removeAll(keepingCapacity: true)
        let end = Int(tape[object].next)
        var key = object + 1
        while key < end {
            let node = tape[key]
            guard !node.isEscaped, fingerprints.count < Self.comparedDirectly else {
                return try checkBySet(object: object, tape: tape, base: base)
            }
            let fingerprint = Self.fingerprint(node, base: base)
            // Equal fingerprints of different keys are possible; the set then decides.
            if fingerprints.contains(fingerprint) { return try checkBySet(object: object, tape: tape, base: base) }
            fingerprints.append(fingerprint)
            key = Int(tape[key + 1].next)
        }
    }

    private func checkBySet(object: Int, tape: [JSONNode], base: UnsafePointer<UInt8>) throws(JSONFault) {
        var seen: Set<[UInt8]> = []
        let end = Int(tape[object].next)
        var key = object + 1
        while key < end {
            let node = tape[key]
            let content = UnsafeBufferPointer(start: base + Int(node.start) + 1, count: Int(node.end - node.start) - 2)
            let name = node.isEscaped ? JSONUnescaping.unescape(content) : Array(content)
            guard seen.insert(name).inserted else {
                throw .duplicateKey(String(decoding: name.prefix(256), as: UTF8.self))
            }
            key = Int(tape[key + 1].next)
        }
    }

    /// First and last eight bytes of the key and its length, mixed.
    ///
    /// Only a first sieve: what collides is compared in full.
    private static func fingerprint(_ node: JSONNode, base: UnsafePointer<UInt8>) -> UInt64 {
        let start = Int(node.start) + 1
        let length = Int(node.end) - 1 - start
        let raw = UnsafeRawPointer(base)
        let first: UInt64
        let last: UInt64
        if length >= 8 {
            first = raw.loadUnaligned(fromByteOffset: start, as: UInt64.self)
            last = raw.loadUnaligned(fromByteOffset: start + length - 8, as: UInt64.self)
        } else {
            var bytes: UInt64 = 0
            for index in 0..<length { bytes |= UInt64(base[start + index]) << UInt64(index * 8) }
            first = bytes
            last = 0
        }
        return (first ^ (last &* 0x9E37_79B9_7F4A_7C15)) &+ UInt64(truncatingIfNeeded: length) &* 0xC2B2_AE3D_27D4_EB4F
    }
}
