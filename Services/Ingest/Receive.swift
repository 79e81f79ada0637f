import StrictJSON

/// Is it a JSON object with a string `signedPayload` of three segments?
///
/// Nothing more is asked of a request: what is refused here is lost, because Apple gives up on what is answered 400 often
/// enough, and a verifier's bug can be repaired by replay only if the bytes got into the log.
struct Receive {
    /// What becomes of a request body.
    enum Decision: Equatable {
        /// The compact JWS, byte for byte.
        case accept(signedPayload: [UInt8])
        case refuse(Refusal)
    }

    func decide(_ body: [UInt8]) -> Decision {
        guard !body.isEmpty else { return .refuse(.empty) }
        let document: JSONDocument
        do throws(JSONFault) {
            document = try JSONDocument(body)
        } catch {
            return .refuse(.notJSON("\(error)"))
        }
        guard document.root.kind == .object else { return .refuse(.notAnObject) }
        guard let member = document.root["signedPayload"] else { return .refuse(.noSignedPayload) }
        guard let payload = member.unescapedBytes else { return .refuse(.signedPayloadNotAString) }
        guard Self.isThreeSegments(payload) else { return .refuse(.notThreeSegments) }
        return .accept(signedPayload: payload)
    }

    /// Three segments, none of them empty, each of a length and of letters that base64url can have.
    private static func isThreeSegments(_ payload: [UInt8]) -> Bool {
        var segments = 1
        var length = 0
        for byte in payload {
            switch byte {
            case UInt8(ascii: "."):
                guard length > 0, length % 4 != 1 else { return false }
                segments += 1
                length = 0
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                length += 1
            default:
                return false
            }
        }
        return segments == 3 && length > 0 && length % 4 != 1
    }
}
