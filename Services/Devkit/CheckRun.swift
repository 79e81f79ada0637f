import ArgumentParser
import Commands
import Contracts
import Foundation

/// `devkit check`: compares any deployment with a simulator's run record, as `devkit dev --count` does.
struct CheckRun: Subcommand {
    private static let tick: Duration = .milliseconds(200)

    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Compare the stored notifications with a simulator's run record.",
        discussion: """
            Waits until every notification that was answered 200 has arrived, or there was no progress for a minute, \
            compares notification by notification, the access of every purchase, and the refund requests with the answers that \
            the simulator took, and prints the result. Notifications of \
            other runs are ignored. A simulator that was interrupted never sent the notifications that its --reorder delayed: \
            access may differ then. Exit codes: 0 equal; 1 different.

            Example: devkit check --record record.jsonl
            """)

    @Option(help: "The file that `simulator run --record` has written; the simulator has ended.")
    var record: String

    @Flag(help: "Print JSON: the result alone.")
    var json = false

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var kafka: KafkaOptions

    func run(in context: CommandContext) async throws {
        guard let bytes = FileManager.default.contents(atPath: record) else {
            throw CommandError("\(record) cannot be read; give the file that the simulator's --record named.")
        }
        let record = try RunRecord(reading: Array(bytes))
        let configuration = try kafka.configuration(in: context)
        let backlog = try Backlog(configuration, forgets: false, logger: .silent)
        let deadLetters = try await DeadLetterCounter(configuration, from: .beginning, logger: .silent)
        let ledger = LedgerReader(connection: try database.connection(for: "check", in: context))
        let report = try await withThrowingTaskGroup(of: Void.self) { group in
            defer { group.cancelAll() }
            group.addTask { await backlog.watch() }
            group.addTask { await deadLetters.watch() }
            return try await compare(record, backlog, deadLetters, ledger, at: context.now())
        }
        try report.present(asJSON: json, in: context)
    }

    private func compare(
        _ record: RunRecord, _ backlog: Backlog, _ deadLetters: DeadLetterCounter, _ ledger: LedgerReader, at now: Date
    ) async throws -> RunReport {
        let clock = ContinuousClock()
        let start = clock.now
        let known = Set(record.notifications.map(\.uuid))
        let expected = Expectation(record: record, measurementNumber: 0)
        var progress = Progress(limit: .seconds(60))
        while true {
            // The ledger may be large: it is read only once there is no lag.
            let measurement = backlog.measurement
            let ours = measurement?.isSettled == true ? known.intersection(try await ledger.uuids()).count : 0
            let hasArrived = expected.isMet(stored: ours, rejected: deadLetters.uuids, backlog: measurement)
            let mark = [Int64(try await ledger.count()), Int64(deadLetters.count)]
            if hasArrived || progress.stands(at: clock.now, mark) {
                // Another run may go on meanwhile: of the ledger, only what this record names.
                let entries = try await ledger.entries().filter { known.contains($0.uuid) }
                let check = RunCheck(
                    ledger: entries, rejected: deadLetters.all,
                    finalStates: try await ledger.finalStates(), statusesByAnswer: try await ledger.statusesByAnswer(),
                    access: try await ledger.access(),
                    effectsTwice: try await ledger.effectsTwice(except: []).filter(known.contains),
                    refunds: RefundCheck(requests: try await ledger.refunds(at: now)))
                return RunReport(
                    findings: check.against(record), droppedByBroker: 0, stalled: !hasArrived, latency: nil,
                    seconds: (clock.now - start).seconds, seed: nil)
            }
            try await clock.sleep(for: Self.tick)
        }
    }
}
