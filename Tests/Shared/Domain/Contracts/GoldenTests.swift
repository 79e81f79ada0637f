import Contracts
import Foundation
import Records
import Testing

/// One file per message version. A change that fails a test breaks a deployment in which the other side is older: add a
/// version instead.
@Suite struct GoldenTests {
    static let uuid = UUID(uuidString: "002e14d5-51f5-4503-b5a8-c3a1af68eb20")

    static func verified() throws -> VerifiedNotification {
        VerifiedNotification(
            notificationUUID: try #require(uuid), notificationType: "DID_RENEW", subtype: "BILLING_RECOVERY",
            environment: .production, bundleId: "com.example.app", appAppleId: 1_234_567_890,
            originalTransactionId: "2000000000000001", transactionId: "2000000000000002",
            signedDate: Date(timeIntervalSince1970: 1_700_000_000.125),
            receivedAt: Date(milliseconds: 1_700_000_001_000),
            source: .webhook, traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            decoded: Array(#"{"notificationType":"DID_RENEW","data":{"signedTransactionInfo":{}}}"#.utf8),
            signedPayload: Array("eyJh.eyJi.c2ln".utf8))
    }

    @Test func `Received notification is encoded as version 1`() throws {
        try expect(
            ReceivedNotification(
                signedPayload: Array("eyJh.eyJi.c2ln".utf8), source: .history,
                receivedAt: Date(milliseconds: 1_700_000_001_000), traceparent: nil),
            isGolden: "received-notification.1")
    }

    @Test func `Received object of a known app is encoded as version 1`() throws {
        try expect(
            ReceivedNotification(
                signedPayload: Array("eyJh.eyJi.c2ln".utf8), source: .history,
                receivedAt: Date(milliseconds: 1_700_000_001_000), bundleId: "com.example.app", traceparent: nil),
            isGolden: "received-part.1")
    }

    @Test func `Received object with the status that Apple answered is encoded as version 1`() throws {
        try expect(
            ReceivedNotification(
                signedPayload: Array("eyJh.eyJi.c2ln".utf8), source: .history,
                receivedAt: Date(milliseconds: 1_700_000_001_000), bundleId: "com.example.app",
                status: AnsweredStatus(status: 4, askedAt: Date(milliseconds: 1_700_000_000_500))),
            isGolden: "received-status.1")
    }

    @Test(arguments: [NotificationSource.webhook, .upload])
    func `Received status header of other sources is ignored`(source: NotificationSource) throws {
        var record = ReceivedNotification(
            signedPayload: [1], source: .history, receivedAt: Date(milliseconds: 1),
            status: AnsweredStatus(status: 4, askedAt: Date(milliseconds: 1))
        ).record()
        #expect(try ReceivedNotification(record).status?.status == 4)
        record.headers.removeAll { $0.name == Headers.source }
        record.headers.append(WireHeader(Headers.source, source.rawValue))
        #expect(try ReceivedNotification(record).status == nil)
    }

    @Test func `Verified transaction on its own is encoded as version 2, and version 1 is read`() throws {
        var verified = try Self.verified()
        verified.notificationType = SignedPart.transaction.rawValue
        verified.subtype = nil
        verified.appAppleId = nil
        verified.traceparent = nil
        verified.source = .upload
        verified.decoded = Array(#"{"signedTransactionInfo":{"transactionId":"2000000000000002"}}"#.utf8)
        try expectBoth(verified, isGolden: "verified-transaction")
    }

    @Test func `Verified notification is encoded as version 2, and version 1 is read`() throws {
        try expectBoth(Self.verified(), isGolden: "verified-notification")
    }

    @Test func `Verified notification without a purchase is encoded as version 2, and version 1 is read`() throws {
        var verified = try Self.verified()
        verified.notificationType = "TEST"
        verified.subtype = nil
        verified.appAppleId = nil
        verified.originalTransactionId = nil
        verified.transactionId = nil
        verified.signedDate = nil
        verified.traceparent = nil
        try expectBoth(verified, isGolden: "verified-notification-without-purchase")
    }

    @Test(arguments: ["verified-notification.1", "verified-notification.2"])
    func `The deduplicator reads the first fields of both versions and passes the record on unchanged`(name: String)
        throws
    {
        let record = try Golden(text: Self.golden(name)).record
        let read = try VerifiedRecord(record)
        let verified = try Self.verified()
        #expect(read.notificationUUID == verified.notificationUUID)
        #expect(read.source == .webhook)
        #expect(read.content == VerifiedRecord.digest(of: verified.decoded))
        let unique = UniqueNotification(unchecked: read)
        #expect(unique.record() == record)
        #expect(try unique.notification() == verified)
    }

    @Test func `Dead letter is encoded as version 1`() throws {
        try expect(
            DeadLetter(
                original: WireRecord(
                    key: nil, value: Array("not a notification".utf8), headers: [.init("source", "webhook")]),
                stage: "verifier", reason: "malformed", message: "not three segments",
                position: LogPosition(topic: Topics.received.name, partition: 7, offset: 42),
                rejectedAt: Date(milliseconds: 1_700_000_002_000), attempts: 1, build: "1.0.0"),
            isGolden: "dead-letter.1")
    }

    @Test func `Heartbeat is encoded as version 1`() throws {
        try expect(
            IngestHeartbeat(
                instance: "ingest-1", minute: Date(milliseconds: 1_700_000_040_000), accepted: 1200,
                rejected: [503: 2, 400: 1]), isGolden: "ingest-heartbeat.1")
    }

    @Test func `Last heartbeat of a receiver is read as the last, and others are not`() throws {
        for isLast in [false, true] {
            let beat = IngestHeartbeat(
                instance: "a", minute: Date(milliseconds: 60_000), accepted: 1, rejected: [:], isLast: isLast)
            #expect(try IngestHeartbeat(beat.record()) == beat)
        }
    }

    @Test func `Change of a purchase is encoded as version 1`() throws {
        try expect(
            SubscriptionChanged(
                environment: .production, originalTransactionId: "2000000000000001", bundleId: "com.example.app",
                event: "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED",
                changes: [
                    FactChange(fact: "autoRenewStatus", from: "true", to: "false"),
                    FactChange(fact: "renewalPrice", from: "9990", to: nil),
                    FactChange(
                        fact: "earlierRevocationDate", from: nil, to: "2023-11-14T22:13:20.000Z",
                        transactionId: "2000000000000002"),
                ],
                state: SubscriptionChanged.State(
                    status: 1, productId: "pro.monthly", hasAccess: true,
                    accessUntil: Date(milliseconds: 1_702_592_000_000), isAutoRenewing: false),
                revision: 7, notificationUUID: try #require(Self.uuid),
                occurredAt: Date(milliseconds: 1_700_000_000_125), appliedAt: Date(milliseconds: 1_700_000_001_000),
                traceparent: nil),
            isGolden: "subscription-changed.1")
    }

    /// What older builds write, and read in what this one writes: see `SubscriptionChangedTests`.
    @Test func `Change of a purchase with its account and transaction is encoded as version 1`() throws {
        try expect(try Self.changed(), isGolden: "subscription-changed-of-account.1")
    }

    static func changed() throws -> SubscriptionChanged {
        var transaction = SubscriptionChanged.Transaction(
            transactionId: "2000000000000002", productId: "pro.monthly", type: "Auto-Renewable Subscription")
        transaction.purchaseDate = Date(milliseconds: 1_699_999_000_000)
        transaction.expiresDate = Date(milliseconds: 1_702_592_000_000)
        (transaction.price, transaction.currency, transaction.storefront) = (9990, "EUR", "DEU")
        transaction.inAppOwnershipType = "PURCHASED"
        (transaction.offerType, transaction.offerIdentifier) = (2, "spring")
        transaction.offerDiscountType = "PAY_AS_YOU_GO"
        transaction.revocationDate = Date(milliseconds: 1_700_000_000_000)
        return SubscriptionChanged(
            environment: .production, originalTransactionId: "2000000000000001", bundleId: "com.example.app",
            appAccountToken: "7e3fb204-2017-4a4e-8f3b-2f1a5d1f7a7b", event: "REFUND",
            changes: [
                FactChange(
                    fact: FactChange.refundRequest, from: "requested", to: "refunded",
                    transactionId: "2000000000000002"),
                FactChange(fact: FactChange.accessUntil, from: "2023-12-14T22:13:20.000Z", to: "none"),
            ],
            state: SubscriptionChanged.State(
                status: 5, productId: "pro.monthly", hasAccess: false, accessUntil: nil, isAutoRenewing: false),
            transaction: transaction, revision: 8, sequence: 1234, notificationUUID: try #require(Self.uuid),
            occurredAt: Date(milliseconds: 1_700_000_000_125), appliedAt: Date(milliseconds: 1_700_000_001_000),
            traceparent: nil)
    }

    @Test func `Recovery request is encoded as version 1`() throws {
        try expect(
            RecoveryRequest(
                environment: .production, originalTransactionId: "2000000000000001", bundleId: "com.example.app",
                skipped: ["end", "period"], before: try #require(Self.uuid),
                from: Date(milliseconds: 1_700_000_000_125), to: Date(milliseconds: 1_700_000_001_000),
                requestedAt: Date(milliseconds: 1_700_000_002_000)), isGolden: "recovery-request.1")
    }

    @Test func `Page of history is encoded as version 1`() throws {
        try expect(
            HistoryPage(
                window: try #require(Self.uuid), environment: .sandbox, bundleId: "com.example.app", page: 3, part: 1,
                items: [
                    .init(
                        signedPayload: Array("eyJh.eyJi.c2ln".utf8),
                        sendAttempts: [
                            .init(attemptedAt: Date(milliseconds: 1_700_000_000_000), result: "TIMED_OUT"),
                            .init(attemptedAt: Date(milliseconds: 1_700_003_600_000), result: "SUCCESS"),
                        ]),
                    .init(signedPayload: Array("eyJh.eyJj.c2ln".utf8), sendAttempts: []),
                ],
                fetchedAt: Date(milliseconds: 1_700_003_700_000)), isGolden: "history-page.1")
    }

    private func expect<Message: TopicMessage & Equatable>(
        _ message: Message, isGolden name: String, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let golden = try Self.golden(name)
        #expect(Golden(message.record()).text == golden, sourceLocation: sourceLocation)
        #expect(try Message(Golden(text: golden).record) == message, sourceLocation: sourceLocation)
    }

    /// Written as version 2, and read from version 1 of the release before.
    private func expectBoth(
        _ message: VerifiedNotification, isGolden name: String, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        try expect(message, isGolden: "\(name).2", sourceLocation: sourceLocation)
        let old = try Golden(text: Self.golden("\(name).1")).record
        #expect(try VerifiedNotification(old) == message, sourceLocation: sourceLocation)
    }

    private static func golden(_ name: String) throws -> String {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Golden/\(name)")
        return try String(contentsOf: file, encoding: .utf8)
    }
}

/// A record as text: the key, a line per header, an empty line, the value; in hexadecimal where it is no text.
private struct Golden {
    var record: WireRecord

    init(_ record: WireRecord) { self.record = record }

    init(text: String) throws {
        let parts = try #require(text.firstRange(of: "\n\n"))
        let value = text[parts.upperBound...].dropLast()
        record = WireRecord(value: value.hasPrefix("hex ") ? try Self.bytes(value.dropFirst(4)) : Array(value.utf8))
        for line in text[..<parts.lowerBound].split(separator: "\n") {
            let colon = try #require(line.firstRange(of: ": "))
            let value = String(line[colon.upperBound...])
            switch line[..<colon.lowerBound] {
            case "key": record.key = value == "none" ? nil : Array(value.utf8)
            case let name: record.headers.append(WireHeader(String(name), value))
            }
        }
    }

    var text: String {
        let key = record.key.map { String(decoding: $0, as: UTF8.self) } ?? "none"
        let headers = record.headers.map { "\($0.name): \(String(decoding: $0.value, as: UTF8.self))\n" }
        let value =
            record.value.first.map { $0 < 0x20 } ?? false
            ? "hex " + record.value.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
            : String(decoding: record.value, as: UTF8.self)
        return "key: \(key)\n" + headers.joined() + "\n" + value + "\n"
    }

    private static func bytes(_ hexadecimal: Substring) throws -> [UInt8] {
        var rest = hexadecimal
        var bytes: [UInt8] = []
        while !rest.isEmpty {
            bytes.append(try #require(UInt8(rest.prefix(2), radix: 16)))
            rest = rest.dropFirst(2)
        }
        return bytes
    }
}
