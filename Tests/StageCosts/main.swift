import AppStore
import Contracts
import Foundation
import Kafka
import Pipeline
import Records
import Signatures
import Storage
import Subscriptions

// What each stage computes for one notification, without network, database and threads, so that a profiler can count its
// instructions: Tests/StageCosts/check. Arguments: a file with the root in PEM, a file with one genuine notification a line. Each
// stage is one function, which the check finds by its name; it prints the stage's bytes in and out.

let notifications = try Data(contentsOf: URL(fileURLWithPath: CommandLine.arguments[2])).split(
    separator: UInt8(ascii: "\n"))
let now = Date()
let seal = RecordSeal(keys: [Array(repeating: UInt8(ascii: "k"), count: 64)])
let verifier = SignedDataVerifier(
    trust: try TrustStore.apple.adding(
        rootsIn: Array(Data(contentsOf: URL(fileURLWithPath: CommandLine.arguments[1])))),
    apps: AppRegistry(apps: [AcceptedApp(bundleId: "com.example.app", appAppleId: 1_234_567_890)]))

/// A notification of the corpus did not pass a stage.
struct Unfit: Error {}

func position(_ offset: Int) -> LogPosition {
    LogPosition(topic: Topics.unique.name, partition: 0, offset: Int64(offset))
}

func wire(_ record: ProducerRecord) -> WireRecord {
    WireRecord(key: record.key, value: record.value, headers: record.headers.map { WireHeader($0.name, $0.value) })
}

@MainActor func verified(_ record: WireRecord) throws -> VerifiedNotification {
    guard seal.isValid(record) else { throw Unfit() }
    return try VerifiedNotification(record)
}

/// From the record of ingest to the record that the verifier writes.
@MainActor @inline(never) func stageVerifier(_ records: [WireRecord]) throws -> [WireRecord] {
    try records.map { record in
        let received = try ReceivedNotification(record)
        let proven = try verifier.notification(received.signedPayload, now: now).get()
        guard let verified = VerifiedNotification(.notification(proven), received) else {
            throw Unfit()
        }
        return wire(seal.sealed(ProducerRecord(Topics.verified, verified)))
    }
}

/// From the record of the verifier to the record that the deduplicator writes.
@MainActor @inline(never) func stageDeduplicator(_ records: [WireRecord]) throws -> [WireRecord] {
    try records.map { record in
        guard seal.isValid(record) else { throw Unfit() }
        let notification = try VerifiedRecord(record)
        precondition(notification.content != 0)
        return wire(seal.sealed(ProducerRecord(Topics.unique, UniqueNotification(unchecked: notification))))
    }
}

/// From the record of the deduplicator to the entry of the ledger, with its event.
@MainActor @inline(never) func stageInterpretation(_ records: [WireRecord]) throws -> [LedgerEntry] {
    try records.enumerated().map { offset, record in
        let entry = try LedgerEntry(try verified(record), position: position(offset))
        guard entry.fault == nil else { throw Unfit() }
        return entry
    }
}

/// The purchases after all events, and their access periods.
@inline(never) func stageState(_ entries: [LedgerEntry]) -> [AccessSchedule] {
    var known: [SubscriptionKey: PurchaseSnapshot] = [:]
    return entries.compactMap(\.event).map { event in
        let before = known.removeValue(forKey: event.key)
        var versions = before?.transactions ?? []
        if let facts = event.transaction {
            versions.removeAll { $0.facts.transactionId == facts.transactionId }
            versions.append(TransactionVersion(facts, version: event.version))
        }
        let transition = Subscription.applying(event, known: before?.subscription)
        let snapshot = PurchaseSnapshot(subscription: transition.subscription, transactions: versions)
        known[event.key] = snapshot
        return AccessSchedule(of: snapshot)
    }
}

@MainActor func report(_ stage: String, _ bytesIn: Int, _ bytesOut: Int) {
    print(stage, notifications.count, bytesIn / notifications.count, bytesOut / notifications.count)
}

func size(_ records: [WireRecord]) -> Int { records.reduce(0) { $0 + $1.value.count } }

let received = notifications.map {
    ReceivedNotification(signedPayload: Array($0), source: .webhook, receivedAt: now).record()
}
// The first notification proves the certificates, once in a process's life; caches and tables are filled.
_ = try stageDeduplicator(try stageVerifier(Array(received.prefix(1))))
// A key that has checked 500 signatures gets a table, which a verifier at work always has.
for chain in verifier.provenChains {
    for _ in 0..<600 {
        _ = chain.leafKey.isValid(signature: Array(repeating: 1, count: 64), overDigest: Array(repeating: 1, count: 32))
    }
}
// Counting begins again after a stage.
_ = stageState(try stageInterpretation(try stageVerifier(Array(received.prefix(1)))))

let verifiedRecords = try stageVerifier(received)
let uniqueRecords = try stageDeduplicator(verifiedRecords)
let entries = try stageInterpretation(uniqueRecords)
let schedules = stageState(entries)
precondition(schedules.contains { !$0.periods.isEmpty })
report("stageVerifier", size(received), size(verifiedRecords))
report("stageDeduplicator", size(verifiedRecords), size(uniqueRecords))
report("stageInterpretation", size(uniqueRecords), 0)
report("stageState", 0, 0)
