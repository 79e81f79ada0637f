import StrictJSON

/// The body of a request by which Apple delivers a notification: a JSON object with a string `signedPayload` of three segments.
///
/// A notification of version 1 is one too, which Apple sends where App Store Connect still asks for it (A8): Apple would
/// repeat it if it were rejected, and no operator would learn of it.
///
/// Nothing else is checked: Apple gives up on what is rejected often enough, and after a bug in the verifier a replay can only
/// repair what was accepted.
/// <https://developer.apple.com/documentation/appstoreservernotifications/responsebodyv2>
public struct NotificationBody: Sendable {
    /// Why a body can never be a notification.
    public enum Fault: Error, Equatable {
        case empty
        case notJSON(String)
        case notAnObject
        case noSignedPayload
        case signedPayloadNotAString
        case notThreeSegments
    }

    /// The compact JWS, byte for byte, or a notification of version 1.
    public let signedPayload: [UInt8]

    /// Reads a body of any size; the receiver limits it.
    public init(_ body: [UInt8]) throws(Fault) {
        guard !body.isEmpty else { throw .empty }
        let document: JSONDocument
        do throws(JSONFault) {
            document = try JSONDocument(body)
        } catch {
            throw .notJSON("\(error)")
        }
        guard document.root.kind == .object else { throw .notAnObject }
        guard let member = document.root["signedPayload"] else {
            guard let version1 = Self.withoutPassword(version1: document) else { throw .noSignedPayload }
            signedPayload = version1
            return
        }
        guard let payload = member.unescapedBytes else { throw .signedPayloadNotAString }
        guard Self.isThreeSegments(payload) else { throw .notThreeSegments }
        signedPayload = payload
    }

    /// The JSON of a notification of version 1, without the app's shared secret, which belongs in no topic.
    private static func withoutPassword(version1 document: JSONDocument) -> [UInt8]? {
        guard document.root["notification_type"]?.string != nil else { return nil }
        var bytes = document.bytes
        if let password = document.root["password"] { bytes.replaceSubrange(password.range, with: Array("null".utf8)) }
        guard let start = bytes.firstIndex(of: UInt8(ascii: "{")) else { return nil }
        return Array(bytes[start...])
    }

    /// Three segments, none of them empty, each of a length and of characters that base64url can have.
    private static func isThreeSegments(_ payload: [UInt8]) -> Bool {
        let dot = UInt8(ascii: ".")
        guard let first = payload.firstIndex(of: dot), let last = payload.lastIndex(of: dot), first < last else {
            return false
        }
        return isBase64URL(payload[..<first]) && isBase64URL(payload[(first + 1)..<last])
            && isBase64URL(payload[(last + 1)...])
    }

    /// Without a branch for each byte, so that the compiler can vectorize it: a payload has thousands.
    private static func isBase64URL(_ segment: ArraySlice<UInt8>) -> Bool {
        var foreign: UInt8 = 0
        for byte in segment {
            let isLetter: UInt8 = (byte | 0x20) &- UInt8(ascii: "a") < 26 ? 1 : 0
            let isDigit: UInt8 = byte &- UInt8(ascii: "0") < 10 ? 1 : 0
            let isDash: UInt8 = byte == UInt8(ascii: "-") ? 1 : 0
            let isUnderscore: UInt8 = byte == UInt8(ascii: "_") ? 1 : 0
            foreign |= (isLetter | isDigit | isDash | isUnderscore) ^ 1
        }
        return foreign == 0 && !segment.isEmpty && segment.count % 4 != 1
    }
}
