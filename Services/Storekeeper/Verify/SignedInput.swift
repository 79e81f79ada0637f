import ArgumentParser
import StrictJSON

/// Extracts the signed payload from pasted text.
struct SignedInput {
    /// The compact JWS, not parsed.
    let jws: [UInt8]

    /// JSON members that contain signed payloads, in Apple's and in app messages.
    private static let members = [
        "signedPayload", "signedTransactionInfo", "signedRenewalInfo", "signedAppTransactionInfo",
    ]

    /// - Parameter content: a JWS, with white space around it or in quotes, or a JSON object with one in it.
    /// - Throws: `ValidationError` where there is none.
    init(_ content: [UInt8]) throws {
        let trimmed = Self.trimmed(content.withoutByteOrderMark)
        guard !trimmed.isEmpty else { throw ValidationError("the input is empty; expected a signed payload") }
        guard trimmed.first == UInt8(ascii: "{") else {
            jws = trimmed
            return
        }
        let document: JSONDocument
        do throws(JSONFault) {
            document = try JSONDocument(trimmed)
        } catch {
            throw ValidationError("the input begins with { but is not JSON: \(error)")
        }
        let found = Self.members.lazy.compactMap { document.root[$0]?.unescapedBytes }.first
        guard let found else {
            throw ValidationError(
                "the JSON object has none of \(Self.members.joined(separator: ", ")); give the signed payload itself")
        }
        jws = found
    }

    private static func trimmed(_ content: ArraySlice<UInt8>) -> [UInt8] {
        let noise: Set = [
            UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "\t"), UInt8(ascii: "\""),
        ]
        guard let first = content.firstIndex(where: { !noise.contains($0) }),
            let last = content.lastIndex(where: { !noise.contains($0) })
        else { return [] }
        return Array(content[first...last])
    }
}
