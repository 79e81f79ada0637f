import Digests
import Signatures
import Storage

/// Where a list goes on: opaque, and bound to the list it came from.
///
/// The bytes carry 8 bytes of a keyed digest, so that a cursor that was made up or changed is rejected instead of answered.
/// It gives no access: the key and the environment of the request decide what may be seen, whatever the cursor says.
struct Cursor: Sendable {
    /// The same on all instances, and after a restart; nil where the database was never read.
    let secret: @Sendable () -> [UInt8]?

    /// - Parameters:
    ///   - position: what the statement needs to go on.
    ///   - list: which list it belongs to, such as the operation and its subject.
    func text(_ position: String, of list: String) throws(Problem) -> String {
        var bytes = Array(position.utf8)
        bytes += try proof(of: bytes, list)
        var text: [UInt8] = []
        text += Base64.encode(bytes[...], .url)
        return String(decoding: text, as: UTF8.self)
    }

    func position(_ text: String, of list: String) throws(Problem) -> String {
        guard let bytes = Base64.decode(Array(text.utf8)[...], .url), bytes.count > Self.proofLength,
            try proof(of: Array(bytes.dropLast(Self.proofLength)), list).elementsEqual(bytes.suffix(Self.proofLength)),
            let position = String(validating: bytes.dropLast(Self.proofLength), as: UTF8.self)
        else {
            throw Problem(
                .invalidCursor,
                "The cursor was not made by this service for this list; take it from the Link header, unchanged, or begin "
                    + "without one.")
        }
        return position
    }

    private static let proofLength = 8

    /// Nested, as HMAC is, so that no length extension helps.
    private func proof(of position: [UInt8], _ list: String) throws(Problem) -> ArraySlice<UInt8> {
        guard let secret = secret() else { throw Problem(.unavailable, "The service is starting; send it again.") }
        let inner = SHA256Hash.digest(secret + [1] + Array(list.utf8) + [0] + position)
        return SHA256Hash.digest(secret + [2] + inner).prefix(Self.proofLength)
    }
}
