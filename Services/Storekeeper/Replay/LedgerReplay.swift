import Contracts
import Foundation
import Kafka
import Pipeline
import Storage

/// Puts signed originals of the ledger back onto the line and writes down that somebody did.
struct LedgerReplay {
    /// What is meant.
    enum Selection: Sendable {
        case uuids([UUID])
        /// Recorded from the first date on and before the second.
        case window(Date, Date, StoreEnvironment?, bundleId: String?)
    }

    var kafka: KafkaOptions
    var database: DatabaseOptions
    var hand: HandOptions
    var isDry: Bool

    private static let batch = 200

    func run(_ selection: Selection, in surroundings: Surroundings) async throws {
        let configuration = try kafka.configuration(in: surroundings)
        let connection = try database.connection(for: "replay", in: surroundings)
        let ledger = NotificationStore(connection)
        let total = try await count(selection, ledger)
        guard !isDry else { return surroundings.print("\(total) notifications would go over the line again.") }
        let producer = try Producer(configuration, logger: .silent)
        let display = ProgressDisplay()
        var progress = ProgressLine(noun: "notifications", total: total, done: 0, elapsed: .zero)
        var last: UUID?
        repeat {
            let uuids = try await next(selection, ledger, after: last)
            var records: [ProducerRecord] = []
            for uuid in uuids {
                guard let line = try await ledger.line(uuid), let original = try await ledger.original(uuid) else {
                    throw Failure("the ledger has no notification \(uuid.uuidString.lowercased())")
                }
                records.append(
                    ProducerRecord(
                        Topics.received,
                        ReceivedNotification(
                            signedPayload: original, source: .replay, receivedAt: line.receivedAt,
                            bundleId: line.bundleId)))
            }
            try await producer.send(records)
            progress.done += records.count
            last = uuids.last
            if total > Self.batch { display.show(progress, isLast: last == nil) }
        } while last != nil
        await producer.close(deadline: .seconds(5))
        try await hand.record("replay", on: selection.subjects, to: OperatorActionStore(connection), in: surroundings)
        surroundings.print("\(progress.done) notifications went over the line again.")
    }

    private func count(_ selection: Selection, _ ledger: NotificationStore) async throws -> Int {
        switch selection {
        case .uuids(let uuids):
            for uuid in uuids where try await ledger.line(uuid) == nil {
                throw Failure(
                    "the ledger has no notification \(uuid.uuidString.lowercased()); storekeeper events list shows what it has"
                )
            }
            return uuids.count
        case .window(let from, let to, let environment, let bundleId):
            return try await ledger.count(from: from, to: to, environment: environment, bundleId: bundleId)
        }
    }

    private func next(_ selection: Selection, _ ledger: NotificationStore, after last: UUID?) async throws -> [UUID] {
        switch selection {
        case .uuids(let uuids): last == nil ? uuids : []
        case .window(let from, let to, let environment, let bundleId):
            try await ledger.uuids(
                from: from, to: to, environment: environment, bundleId: bundleId, after: last, limit: Self.batch)
        }
    }
}

extension LedgerReplay.Selection {
    /// What the trail calls them.
    var subjects: [String] {
        switch self {
        case .uuids(let uuids): return uuids.map { "notification \($0.uuidString.lowercased())" }
        case .window(let from, let to, let environment, let bundleId):
            let only = [environment?.rawValue, bundleId].compactMap { $0 }.joined(separator: " ")
            return ["ledger \(from.text)/\(to.text)\(only.isEmpty ? "" : " \(only)")"]
        }
    }
}
