import Digests
import Foundation
import Hummingbird

/// What every webhook has beside its data.
struct Event: Decodable {
    var type: String
}

/// Whether Storekeeper sent it, within five minutes. In a project of your own, `HMAC<SHA256>` of swift-crypto takes the place of
/// `MessageAuthentication`.
/// - Parameter body: the bytes as received.
func isGenuine(_ headers: HTTPFields, _ body: Data) -> Bool {
    func header(_ name: String) -> String { headers.first { $0.name.canonicalName == name }?.value ?? "" }
    let (id, timestamp) = (header("webhook-id"), header("webhook-timestamp"))
    guard let seconds = Double(timestamp), abs(Date().timeIntervalSince1970 - seconds) < 300,
        let key = Data(base64Encoded: String(Variables.webhookSecret.dropFirst("whsec_".count)))
    else { return false }
    let hmac = MessageAuthentication(key: Array(key))
    let signed = [Array("\(id).\(timestamp).".utf8)[...], Array(body)[...]]
    return header("webhook-signature").split(separator: " ").contains { signature in  // two for a day after a rotation
        guard signature.hasPrefix("v1,"), let code = Data(base64Encoded: String(signature.dropFirst(3))) else {
            return false
        }
        return hmac.isValid(Array(code), of: signed)
    }
}
