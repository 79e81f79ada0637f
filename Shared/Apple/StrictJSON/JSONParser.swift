/// Reads a document once from front to back and leaves a tape.
///
/// Without recursion: the depth of a document is a number here, not stack space. Every read is behind a comparison
/// with `count`, so the pointer is never followed past the end.
struct JSONParser {
    let base: UnsafePointer<UInt8>
    let count: Int
    let depthLimit: Int
    var position = 0
    var tape: [JSONNode] = []
    private var open: [Int] = []
    private var keys = JSONKeyCheck()

    init(_ buffer: UnsafeBufferPointer<UInt8>, depth: Int) {
        // An empty buffer may have no address; nothing is read from this one because `count` is 0.
        base = buffer.baseAddress ?? UnsafePointer(bitPattern: 1).unsafelyUnwrapped
        count = buffer.count
        depthLimit = depth
        tape.reserveCapacity(64)
    }

    mutating func readDocument() throws(JSONFault) {
        if count >= 3, base[0] == 0xEF, base[1] == 0xBB, base[2] == 0xBF { throw .encoding(at: 0) }
        skipWhiteSpace()
        try readValue()
        while let container = open.last {
            skipWhiteSpace()
            guard position < count else { throw .syntax(at: position) }
            let isObject = tape[container].kind == .object
            switch base[position] {
            case UInt8(ascii: ","):
                position += 1
                skipWhiteSpace()
                if isObject { try readKey() }
                try readValue()
            case UInt8(ascii: "}") where isObject, UInt8(ascii: "]") where !isObject:
                try close(container)
            default:
                throw .syntax(at: position)
            }
        }
        skipWhiteSpace()
        guard position == count else { throw .trailing(at: position) }
    }

    /// Reads a scalar, or opens containers down to the first scalar or empty container.
    private mutating func readValue() throws(JSONFault) {
        while true {
            guard position < count else { throw .syntax(at: position) }
            switch base[position] {
            case UInt8(ascii: "{"):
                try begin(.object)
                if position < count, base[position] == UInt8(ascii: "}") { return try close(tape.count - 1) }
                try readKey()
            case UInt8(ascii: "["):
                try begin(.array)
                if position < count, base[position] == UInt8(ascii: "]") { return try close(tape.count - 1) }
            case UInt8(ascii: "\""):
                return try appendString()
            case UInt8(ascii: "t"):
                return try appendLiteral("true", .bool)
            case UInt8(ascii: "f"):
                return try appendLiteral("false", .bool)
            case UInt8(ascii: "n"):
                return try appendLiteral("null", .null)
            default:
                let start = position
                position = try JSONNumber.end(base, from: position, count: count)
                return append(.number, from: start)
            }
        }
    }

    private mutating func readKey() throws(JSONFault) {
        guard position < count, base[position] == UInt8(ascii: "\"") else { throw .syntax(at: position) }
        try appendString()
        skipWhiteSpace()
        guard position < count, base[position] == UInt8(ascii: ":") else { throw .syntax(at: position) }
        position += 1
        skipWhiteSpace()
    }

    private mutating func begin(_ kind: JSONKind) throws(JSONFault) {
        guard open.count < depthLimit else { throw .depth(limit: depthLimit) }
        open.append(tape.count)
        position += 1
        append(kind, from: position - 1)
        skipWhiteSpace()
    }

    private mutating func close(_ container: Int) throws(JSONFault) {
        position += 1
        tape[container].end = UInt32(position)
        tape[container].next = UInt32(tape.count)
        open.removeLast()
        if tape[container].kind == .object { try keys.check(object: container, tape: tape, base: base) }
    }

    private mutating func appendString() throws(JSONFault) {
        let start = position
        var scan = JSONStringScan(base, count: count, position: start + 1)
        try scan.run()
        position = scan.position
        append(.string, from: start, isEscaped: scan.isEscaped)
    }

    private mutating func appendLiteral(_ literal: StaticString, _ kind: JSONKind) throws(JSONFault) {
        let start = position
        let length = literal.utf8CodeUnitCount
        for offset in 0..<length {
            guard start + offset < count, base[start + offset] == literal.utf8Start[offset] else {
                throw .syntax(at: start + offset)
            }
        }
        position += length
        append(kind, from: start)
    }

    private mutating func append(_ kind: JSONKind, from start: Int, isEscaped: Bool = false) {
        tape.append(
            JSONNode(
                kind: kind, isEscaped: isEscaped, start: UInt32(start), end: UInt32(position),
                next: UInt32(tape.count + 1)))
    }

    private mutating func skipWhiteSpace() {
        while position < count {
            switch base[position] {
            case 0x20, 0x09, 0x0A, 0x0D: position += 1
            default: return
            }
        }
    }
}
