import Records

import struct Foundation.Date
import struct Foundation.UUID

/// The binary form of a ``VerifiedNotification``, version 2. Fields in this order; numbers are big-endian, lengths are varints, a text
/// is UTF-8 behind its length, and what may be absent has 0, or its length and 1, before it.
///
/// | field | form |
/// | --- | --- |
/// | version | one byte, 2; the JSON of version 1 begins with `{` |
/// | notificationUUID | 16 bytes |
/// | digest of `decoded` | 8 bytes, see ``VerifiedRecord/digest(of:)`` |
/// | source | text |
/// | environment, notificationType, bundleId | texts |
/// | subtype, originalTransactionId, transactionId | texts that may be absent |
/// | receivedAt | 8 bytes, milliseconds since 1970 |
/// | appAppleId | one byte, 1 where it is present, and 8 bytes |
/// | signedDate | as appAppleId: milliseconds since 1970 as a floating-point number |
/// | decoded | a text that may be absent: then it is the original's JSON, each nested JWS replaced by what it signs |
/// | headers of the original | their number, and each as a text |
/// | original | the rest: the blob of ``SignedOriginal`` |
enum VerifiedValue {
    static let version: UInt8 = 2

    /// Whether it is of version 2 or a later one: no JSON begins with such a byte.
    static func isBinary(_ value: [UInt8]) -> Bool { value.first.map { $0 < UInt8(ascii: "\t") } ?? false }
}

extension VerifiedNotification {
    var value: [UInt8] {
        var writer = ValueWriter(capacity: original.blob.count + original.headers.reduce(512) { $0 + $1.count })
        writer.append(VerifiedValue.version)
        writer.append(notificationUUID)
        writer.append(VerifiedRecord.digest(of: decoded))
        writer.append(source.rawValue)
        for text in [environment.rawValue, notificationType, bundleId] { writer.append(text) }
        for text in [subtype, originalTransactionId, transactionId] { writer.append(optional: text) }
        writer.append(receivedAt.milliseconds)
        writer.append(optional: appAppleId)
        writer.append(
            optional: signedDate.map { Int64(bitPattern: ($0.timeIntervalSince1970 * 1000).bitPattern) })
        let isImplied = (try? original.document())?[...].isSame(as: decoded[...]) ?? false
        writer.append(optionalBytes: isImplied ? nil : decoded)
        writer.append(count: original.headers.count)
        for header in original.headers { writer.append(counted: header) }
        writer.append(contentsOf: original.blob)
        return writer.bytes
    }

    init(value: [UInt8], traceparent: String?) throws(ContractFault) {
        var reader = ValueReader(value)
        try reader.version()
        notificationUUID = try reader.uuid("notificationUUID")
        _ = try reader.integer("digest")
        source = try reader.source()
        guard let environment = StoreEnvironment(rawValue: try reader.text("environment")) else {
            throw .missing("environment")
        }
        self.environment = environment
        notificationType = try reader.text("notificationType")
        bundleId = try reader.text("bundleId")
        subtype = try reader.optionalText("subtype")
        originalTransactionId = try reader.optionalText("originalTransactionId")
        transactionId = try reader.optionalText("transactionId")
        receivedAt = try reader.date("receivedAt")
        appAppleId = try reader.optionalInteger("appAppleId")
        signedDate = try reader.optionalInteger("signedDate").map {
            Date(timeIntervalSince1970: Double(bitPattern: UInt64(bitPattern: $0)) / 1000)
        }
        self.traceparent = traceparent
        let given = try reader.optionalBytes("decoded")
        var headers: [[UInt8]] = []
        for _ in 0..<(try reader.count("original")) { headers.append(Array(try reader.counted("original"))) }
        original = SignedOriginal(blob: Array(reader.rest), headers: headers)
        // Read where it is not needed, too: what a later reader cannot restore is rejected here.
        let implied: [UInt8]?
        do { implied = try original.document() } catch { throw .missing("original") }
        guard let decoded = given ?? implied else { throw .missing("decoded") }
        self.decoded = decoded
    }
}

/// A verified notification as the deduplicator reads it: what tells a repeat, and the record, which passes unchanged.
public struct VerifiedRecord: TopicMessage, Hashable {
    /// Apple's id of the notification; the same in every repetition.
    public let notificationUUID: UUID
    /// Tells different contents under one id apart: ``digest(of:)`` of ``VerifiedNotification/decoded``.
    public let content: Int64
    /// How it was received.
    public let source: NotificationSource
    /// What the verifier wrote.
    let wire: WireRecord

    /// As ``VerifiedNotification``.
    public static func needsSeal(_ record: WireRecord) -> Bool { true }

    /// Reads the first fields alone; the rest is checked by the state-updater.
    public init(_ record: WireRecord) throws(ContractFault) {
        wire = record
        guard VerifiedValue.isBinary(record.value) else {
            let notification = try VerifiedNotification(record)
            notificationUUID = notification.notificationUUID
            content = Self.digest(of: notification.decoded)
            source = notification.source
            return
        }
        var reader = ValueReader(record.value)
        try reader.version()
        notificationUUID = try reader.uuid("notificationUUID")
        content = try reader.integer("digest")
        source = try reader.source()
    }

    /// The record, as it was read.
    public func record() -> WireRecord { wire }

    /// FNV-1a. Only Apple can sign the content, so the digest only has to tell different contents apart.
    public static func digest(of content: [UInt8]) -> Int64 {
        var digest: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in content { digest = (digest ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return Int64(bitPattern: digest)
    }
}
