import Contracts
import Foundation
import Kafka
import Pipeline
import Postgres
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
    var output: OutputOptions
    var isDry: Bool
    /// Whether they are meant to go although the ledger knows them.
    var isMeant: Bool

    private static let batch = 200

    func run(_ selection: Selection, in surroundings: Surroundings) async throws {
        let configuration = try kafka.configuration(in: surroundings)
        let connection = try database.connection(for: "replay", in: surroundings)
        let ledger = NotificationStore(connection)
        let (total, dropped) = try await count(selection, ledger)
        // What the ledger holds it knows.
        var summary = ReplaySummary(dryRun: isDry, found: total, known: total, dropped: dropped)
        guard !isDry else {
            return try summary.show(
                "\(summary.plan("notification", "would go over the line again")).\(Self.lacking(dropped))", output,
                in: surroundings)
        }
        guard isMeant || summary.left == 0 else {
            throw Failure(
                """
                the ledger knows \(summary.left == 1 ? "this notification" : "all \(summary.left) notifications"), so \
                sending again changes nothing that is believed: storekeeper rebuild shows what does not follow from the ledger, and with --repair puts it \
                right. With --known they go all the same, through today's checks.
                """)
        }
        surroundings.warn(
            "\(summary.plan("notification", isOne: "goes over the line again", "go over the line again")).")
        let producer = try Producer(configuration, logger: .silent)
        var sent = 0
        let result: Result<Void, any Error>
        do {
            result = .success(try await send(selection, summary.left, ledger, producer, &sent))
        } catch { result = .failure(error) }
        await producer.close(deadline: .seconds(5))
        // What went is written down, whatever stopped the rest.
        try await record(selection, sent, connection, surroundings)
        if case .failure(let error) = result {
            throw Failure(
                "\(sent) of \(summary.left) notifications went over the line again, then: \(error). "
                    + "To replay them all once more is harmless.")
        }
        summary.sent = sent
        try summary.show("\(sent.counted("notification")) went over the line again.", output, in: surroundings)
        if dropped > 0 { throw Failure("not all could go:\(Self.lacking(dropped))") }
    }

    private func send(
        _ selection: Selection, _ total: Int, _ ledger: NotificationStore, _ producer: Producer, _ sent: inout Int
    ) async throws {
        let display = ProgressDisplay()
        var progress = ProgressLine(noun: "notifications", total: total, done: 0, elapsed: .zero)
        var last: UUID?
        repeat {
            let uuids = try await next(selection, ledger, after: last)
            var records: [ProducerRecord] = []
            for uuid in uuids {
                // Dropped by age: counted before.
                guard let line = try await ledger.line(uuid), let original = try await ledger.original(uuid) else {
                    continue
                }
                records.append(
                    ProducerRecord(
                        Topics.received,
                        ReceivedNotification(
                            signedPayload: original, source: .replay, receivedAt: line.receivedAt,
                            bundleId: line.bundleId)))
            }
            try await producer.send(records)
            sent += records.count
            progress.done = sent
            last = uuids.last
            if total > Self.batch { display.show(progress, isLast: last == nil) }
        } while last != nil
    }

    private func record(
        _ selection: Selection, _ sent: Int, _ connection: PostgresConnection, _ surroundings: Surroundings
    ) async throws {
        guard sent > 0 else { return }
        do {
            try await hand.record(
                "replay", on: selection.subjects, to: OperatorActionStore(connection), in: surroundings)
        } catch {
            throw Failure(
                "\(sent) notifications went over the line again, but the trail could not be written: \(error)")
        }
    }

    /// Behind a full stop; nothing where nothing is lacking.
    private static func lacking(_ dropped: Int) -> String {
        dropped == 0
            ? "" : " Of \(dropped) retention has dropped what they said (STOREKEEPER_LEDGER_DAYS), so they cannot."
    }

    private func count(_ selection: Selection, _ ledger: NotificationStore) async throws -> (all: Int, dropped: Int) {
        switch selection {
        case .uuids(let uuids):
            for uuid in uuids {
                guard try await ledger.line(uuid) != nil else { throw Failure(unknown: uuid) }
                guard try await ledger.original(uuid) != nil else { throw Failure(dropped: uuid) }
            }
            return (uuids.count, 0)
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

extension Failure {
    /// The ledger never had it.
    init(unknown uuid: UUID) {
        self.init(
            """
            the ledger has no notification \(uuid.uuidString.lowercased()); storekeeper events list shows what it has, \
            storekeeper rejected list what was refused
            """)
    }

    /// The ledger had it, and what it was is there still.
    init(dropped uuid: UUID) {
        self.init(
            """
            retention has dropped what notification \(uuid.uuidString.lowercased()) said, its signed original with it \
            (STOREKEEPER_LEDGER_DAYS); storekeeper events show tells what is left of it
            """)
    }
}
