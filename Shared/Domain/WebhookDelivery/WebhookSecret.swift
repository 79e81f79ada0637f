import Digests

import struct Foundation.Data
import struct Foundation.Date
import struct Foundation.UUID

/// The secrets of all endpoints, derived from one key: the database holds none, and a backup of it signs nothing.
package struct WebhookSecrets: Sendable {
    /// How long the secret before a rotation signs beside the new one, in seconds: a day.
    package static let overlap: Double = 86_400
    /// Least number of bytes of the key.
    package static let minimumKeyBytes = 32

    private let key: MessageAuthentication

    /// - Parameter key: at least ``minimumKeyBytes`` bytes.
    package init(key: [UInt8]) { self.key = MessageAuthentication(key: key) }

    /// The secret of an endpoint in one generation, 32 bytes.
    package func bytes(of endpoint: UUID, generation: Int32) -> [UInt8] {
        key.code(of: [Array("storekeeper webhook \(endpoint.uuidString.lowercased()) \(generation)".utf8)[...]])
    }

    /// The secret as receivers configure it: `whsec_` and Base64.
    package func text(of endpoint: UUID, generation: Int32) -> String {
        "whsec_" + Data(bytes(of: endpoint, generation: generation)).base64EncodedString()
    }

    /// The generations that sign now: the current one, and for a day after a rotation the one before.
    package static func generations(of endpoint: WebhookEndpoint, at now: Date) -> [Int32] {
        guard endpoint.generation > 1, let rotatedAt = endpoint.rotatedAt,
            now.timeIntervalSince(rotatedAt) < overlap
        else { return [endpoint.generation] }
        return [endpoint.generation, endpoint.generation - 1]
    }

    /// The headers of a request, as [Standard Webhooks](https://www.standardwebhooks.com) defines them.
    /// - Parameters:
    ///   - id: the same in every repetition of an event.
    ///   - now: the time of the attempt.
    package func headers(
        of body: [UInt8], id: String, for endpoint: WebhookEndpoint, at now: Date
    ) -> [(name: String, value: String)] {
        let seconds = Int64(now.timeIntervalSince1970.rounded(.down))
        let signatures = Self.generations(of: endpoint, at: now).map { generation in
            WebhookSignature.text(
                of: body, id: id, timestamp: seconds, secret: bytes(of: endpoint.id, generation: generation))
        }
        return [
            ("webhook-id", id), ("webhook-timestamp", String(seconds)),
            ("webhook-signature", signatures.joined(separator: " ")),
        ]
    }
}

/// The signature of one body.
package enum WebhookSignature {
    /// `v1,` and the Base64 of HMAC-SHA256 over id, timestamp and body, with points between them.
    package static func text(of body: [UInt8], id: String, timestamp: Int64, secret: [UInt8]) -> String {
        let code = MessageAuthentication(key: secret).code(of: [Array("\(id).\(timestamp).".utf8)[...], body[...]])
        return "v1," + Data(code).base64EncodedString()
    }
}
