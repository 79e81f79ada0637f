import ArgumentParser
import Contracts
import Foundation

/// `storekeeper check`: what a counted `storekeeper dev` does at its end, for a line that somebody else runs.
struct CheckRun: Subcommand {
    private static let tick: Duration = .milliseconds(200)

    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Compare what a line made of a simulator's run with the simulator's book.",
        discussion: """
            Waits until everything that was answered 200 has arrived, or nothing has moved for a minute, compares \
            notification by notification and prints the verdict. The database and the topic of dead letters may hold \
            other runs too: what the book does not name is left alone. Exit codes: 0 clean, 1 not.
            """)

    @Option(help: "The file that `simulator run --record` has written; the simulator has ended.")
    var record: String

    @Flag(help: "Print the verdict as JSON, and nothing else.")
    var json = false

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var kafka: KafkaOptions

    func run(in context: CommandContext) async throws {
        guard let bytes = FileManager.default.contents(atPath: record) else {
            throw CommandError("\(record) cannot be read; give the file that the simulator's --record named.")
        }
        let book = try RunRecord(reading: Array(bytes))
        let configuration = try kafka.configuration(in: context)
        let backlog = try Backlog(configuration, forgets: false, logger: .silent)
        let letters = try await RejectionCounter(configuration, from: .beginning, logger: .silent)
        let ledger = LedgerReader(connection: try database.connection(for: "check", in: context))
        let verdict = try await withThrowingTaskGroup(of: Void.self) { group in
            defer { group.cancelAll() }
            group.addTask { await backlog.watch() }
            group.addTask { await letters.watch() }
            return try await judge(book, backlog, letters, ledger)
        }
        try verdict.pronounce(asJSON: json, in: context)
    }

    private func judge(
        _ book: RunRecord, _ backlog: Backlog, _ letters: RejectionCounter, _ ledger: LedgerReader
    ) async throws -> RunReport {
        let clock = ContinuousClock()
        let start = clock.now
        let known = Set(book.notifications.map(\.uuid))
        let expected = Expectation(book: book, lookNumber: 0)
        var progress = Progress(limit: .seconds(60))
        while true {
            // The ledger may hold much else: it is read whole only when nothing is on its way any more.
            let look = backlog.look
            let ours = look?.isSettled == true ? known.intersection(try await ledger.uuids()).count : 0
            let hasArrived = expected.isMet(stored: ours, refused: letters.uuids, backlog: look)
            let mark = [Int64(try await ledger.count()), Int64(letters.count)]
            if hasArrived || progress.stands(at: clock.now, mark) {
                let before = try await ledger.uuids().subtracting(known)
                let check = RunCheck(
                    ledger: try await ledger.entries(), before: before, refused: letters.all,
                    beliefs: try await ledger.beliefs(), effectsTwice: try await ledger.effectsTwice(except: before))
                return RunReport(
                    findings: check.against(book), droppedByBroker: 0, stalled: !hasArrived, latency: nil,
                    seconds: (clock.now - start).seconds, seed: nil)
            }
            try await clock.sleep(for: Self.tick)
        }
    }
}
