import Records
import StrictJSON

import struct Foundation.Date

extension VerifiedNotification {
    /// Reads a record of version 1, one JSON object: what the release before this one wrote. The next release does not read it.
    init(version1 record: WireRecord) throws(ContractFault) {
        let message = try MessageReader(record.value, version: 1)
        let uuid = try message.uuid("notificationUUID")
        let environment = try message.environment()
        guard let source = NotificationSource(rawValue: try message.string("source")) else { throw .missing("source") }
        guard let decoded = message["decoded"], decoded.kind == .object else { throw .missing("decoded") }
        guard let signedPayload = message["signedPayload"]?.unescapedBytes else { throw .missing("signedPayload") }
        self.init(
            notificationUUID: uuid, notificationType: try message.string("notificationType"),
            subtype: message["subtype"]?.string, environment: environment, bundleId: try message.string("bundleId"),
            appAppleId: message["appAppleId"]?.int64, originalTransactionId: message["originalTransactionId"]?.string,
            transactionId: message["transactionId"]?.string,
            signedDate: message["signedDate"]?.double.map { Date(timeIntervalSince1970: $0 / 1000) },
            receivedAt: try message.date("receivedAt"), source: source,
            traceparent: record.header(Headers.traceparent), decoded: Array(decoded.rawBytes),
            signedPayload: signedPayload)
    }
}
