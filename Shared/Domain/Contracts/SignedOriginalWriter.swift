import Signatures

/// Writes the compact form: header reference or header text, payload in pieces, signature.
struct SignedOriginalWriter {
    private(set) var bytes: [UInt8] = [SignedOriginalFormat.compact]
    private(set) var headers: [[UInt8]] = []

    /// - Returns: false where these bytes have no compact form; the caller discards the appended bytes then.
    mutating func append(jws: ArraySlice<UInt8>, depth: Int) -> Bool {
        // The search for dots starts at both ends, where they are near; a third dot is no digit and fails below.
        guard let first = jws.firstIndex(of: UInt8(ascii: ".")), let last = jws.lastIndex(of: UInt8(ascii: ".")),
            first < last, let payload = Base64.decode(jws[(first + 1)..<last], .url),
            let signature = Base64.decode(jws[(last + 1)...], .url)
        else { return false }
        append(header: jws[..<first])
        append(payload: payload, depth: depth)
        bytes.append(varint: signature.count)
        bytes.append(contentsOf: signature)
        return true
    }

    private mutating func append(header: ArraySlice<UInt8>) {
        guard header.count >= SignedOriginalFormat.shortestSharedHeader else {
            bytes.append(varint: 0)
            bytes.append(varint: header.count)
            bytes.append(contentsOf: header)
            return
        }
        if let index = headers.place(of: header) {
            bytes.append(varint: index + 1)
        } else {
            headers.append(Array(header))
            bytes.append(varint: headers.count)
        }
    }

    /// Pieces: `length << 1` and that many bytes; `1` and a nested JWS; 0 at the end.
    private mutating func append(payload: [UInt8], depth: Int) {
        var written = 0
        if depth + 1 < SignedOriginalFormat.deepest {
            for nested in NestedJWS.ranges(in: payload) {
                var attempt = self
                attempt.append(piece: payload[written..<nested.lowerBound])
                attempt.bytes.append(varint: 1)
                guard attempt.append(jws: payload[nested], depth: depth + 1) else { continue }
                self = attempt
                written = nested.upperBound
            }
        }
        append(piece: payload[written...])
        bytes.append(varint: 0)
    }

    private mutating func append(piece: ArraySlice<UInt8>) {
        guard !piece.isEmpty else { return }
        bytes.append(varint: piece.count << 1)
        bytes.append(contentsOf: piece)
    }
}

/// Finds texts between quotation marks that look like a compact JWS.
enum NestedJWS {
    static func ranges(in payload: [UInt8]) -> [Range<Int>] {
        var ranges: [Range<Int>] = []
        var index = 0
        while index < payload.count {
            guard payload[index] == UInt8(ascii: "\"") else {
                index += 1
                continue
            }
            let start = index + 1
            let run = run(in: payload[start...])
            let end = start + run.length
            if run.dots == 2, end < payload.count, payload[end] == UInt8(ascii: "\"") { ranges.append(start..<end) }
            index = end
        }
        return ranges
    }

    private static let isDigit: [Bool] = {
        var isDigit = [Bool](repeating: false, count: 256)
        for digit in "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8 {
            isDigit[Int(digit)] = true
        }
        return isDigit
    }()

    /// The length of the run of base64url digits and dots at the start of `text`, and how many dots it holds.
    private static func run(in text: ArraySlice<UInt8>) -> (length: Int, dots: Int) {
        // Buffers instead of subscripts: this reads some 20 KB per notification, and bounds checks double the time.
        text.withUnsafeBufferPointer { text in
            isDigit.withUnsafeBufferPointer { isDigit in
                var (length, dots) = (0, 0)
                while length < text.count {
                    if !isDigit[Int(text[length])] {
                        guard text[length] == UInt8(ascii: ".") else { break }
                        dots += 1
                    }
                    length += 1
                }
                return (length, dots)
            }
        }
    }
}
