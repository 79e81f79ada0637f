import Signatures

/// Reads the format of `SignedOriginalWriter`. Any other bytes throw `SignedOriginal.Damage` and never crash.
struct SignedOriginalReader {
    var rest: ArraySlice<UInt8>
    let headers: [[UInt8]]

    mutating func jws(depth: Int) throws(SignedOriginal.Damage) -> [UInt8] {
        guard depth < SignedOriginalFormat.deepest else {
            throw SignedOriginal.Damage(description: "the stored original is nested too deeply")
        }
        var text = try header()
        text.append(UInt8(ascii: "."))
        text += Base64.encode(try payload(depth: depth)[...], .url)
        text.append(UInt8(ascii: "."))
        let length = try varint()
        text += Base64.encode(try take(length), .url)
        return text
    }

    /// Reads what ``SignedOriginal/document()`` returns.
    mutating func document(depth: Int) throws(SignedOriginal.Damage) -> [UInt8] {
        guard depth < SignedOriginalFormat.deepest else {
            throw SignedOriginal.Damage(description: "the stored original is nested too deeply")
        }
        _ = try header()
        var document: [UInt8] = []
        document.reserveCapacity(rest.count)
        var isBehindNested = false
        while true {
            let mark = try varint()
            if mark == 1 {
                guard !isBehindNested, document.last == UInt8(ascii: "\"") else {
                    throw SignedOriginal.Damage(description: "the stored original has a nested JWS outside of a string")
                }
                document.removeLast()
                document.append(contentsOf: try self.document(depth: depth + 1))
                isBehindNested = true
            } else {
                let piece = try take(mark >> 1)
                guard !isBehindNested || piece.first == UInt8(ascii: "\"") else {
                    throw SignedOriginal.Damage(description: "the stored original has a nested JWS outside of a string")
                }
                document.append(contentsOf: isBehindNested ? piece.dropFirst() : piece)
                isBehindNested = false
                if mark == 0 { break }
            }
        }
        _ = try take(try varint())
        return document
    }

    private mutating func header() throws(SignedOriginal.Damage) -> [UInt8] {
        let reference = try varint()
        guard reference > 0 else {
            let length = try varint()
            return Array(try take(length))
        }
        guard reference <= headers.count else {
            throw SignedOriginal.Damage(description: "the stored original refers to a header that is missing")
        }
        return headers[reference - 1]
    }

    private mutating func payload(depth: Int) throws(SignedOriginal.Damage) -> [UInt8] {
        var payload: [UInt8] = []
        while true {
            let mark = try varint()
            if mark == 0 { return payload }
            if mark == 1 {
                payload.append(contentsOf: try jws(depth: depth + 1))
            } else {
                payload.append(contentsOf: try take(mark >> 1))
            }
        }
    }

    private mutating func take(_ count: Int) throws(SignedOriginal.Damage) -> ArraySlice<UInt8> {
        guard count <= rest.count else { throw SignedOriginal.Damage(description: "the stored original is cut short") }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }

    private mutating func varint() throws(SignedOriginal.Damage) -> Int {
        guard let number = rest.popVarint() else {
            throw SignedOriginal.Damage(description: "the stored original holds a number that does not end")
        }
        return number
    }
}
