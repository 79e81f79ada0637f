import ArgumentParser
import Development
import Foundation
import Postgres

/// Notifications per second through the one transaction of the state-updater, beside pgbench writing the same rows of
/// the same tables on the same server in the same minutes; and, if asked, into a ledger that holds millions.
@main
struct LedgerBenchmark: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "ledger-benchmark")

    @Option(help: "How often everything is measured, one after the other, so that a slow minute is slow for all.")
    var rounds = 5
    @Option(help: "Seconds a measurement lasts.")
    var seconds = 4.0
    @Option(help: "Notifications in a transaction.")
    var batch = 500
    @Option(help: "Also measure in a ledger that holds so many notifications and as many seen notifications.")
    var fill = 0
    @Option(help: "Seen notifications, if not as many; they alone need 130 bytes of disk each.")
    var seen: Int?
    @Option(help: "Measure instead how fast one account among so many subscriptions is answered.")
    var access = 0
    @Option(
        help: "What the server keeps in memory of its own: the index of the seen notifications should have room in it.")
    var sharedBuffers = "1GB"
    @Flag(
        help: "Commit without waiting for the disk. Shows what the processor costs, not what production does.")
    var noSync = false

    func run() async throws {
        say("signing the notifications of 2,000 subscriptions")
        let corpus = try NotificationCorpus(batch: batch)
        let server = try await DevelopmentPostgres.start(
            durability: noSync ? .none : .full, sharedBuffers: sharedBuffers)
        let result: Result<Void, any Error>
        do { result = .success(try await measure(corpus, on: server)) } catch { result = .failure(error) }
        await server.stop()
        try result.get()
    }

    private func measure(_ corpus: NotificationCorpus, on server: DevelopmentPostgres) async throws {
        let bench = Bench(server: server.url)
        let reference = try await Reference(bench, corpus: corpus)
        let literals = try await LiteralReference(reference, patterns: corpus.batches)
        defer {
            literals.remove()
            reference.remove()
        }
        if access > 0 { return try await measureAccess(on: bench, reference, patterns: corpus.batches) }
        let rows = try await reference.rowsPerNotification()
        var measured: [(String, (Double) async throws -> Double)] = [
            ("pgbench, the same rows, which the server has", { try await reference.rate(seconds: $0) }),
            ("pgbench, the same rows, sent as literals", { try await literals.rate(seconds: $0) }),
        ]
        let empty = try await Ledger(bench.create("small"), isMigrated: false)
        for _ in 0..<10 { _ = try await empty.apply(corpus) }
        // Plans that were made for empty tables stay until the server next analyzes them: begin with others.
        await empty.close()
        let ours = try await Ledger(bench.url("small"), isMigrated: true)
        measured.append(("the one transaction", { try await ours.rate(corpus, seconds: $0) }))
        measured.append(
            ("the state-updater: read, processed, applied", { try await ours.stateUpdaterRate(corpus, seconds: $0) }))
        measured.append(("deduplicator: mark as seen", { try await ours.seenRate(corpus, seconds: $0) }))
        let seenCount = seen ?? fill
        if fill > 0 || seenCount > 0 {
            try await bench.copy("reference", to: "filled")
            let filler = Filler(url: bench.url("filled"), batch: batch, patterns: corpus.batches)
            try await filler.fill(notifications: fill, seen: seenCount) { say($0) }
            let full = try await Ledger(bench.url("filled"), isMigrated: true)
            measured.append(
                ("the one transaction, \(fill) in the ledger", { try await full.rate(corpus, seconds: $0) }))
            measured.append(
                ("deduplicator: mark as seen, \(seenCount) seen", { try await full.seenRate(corpus, seconds: $0) }))
            print(try await filler.sizes())
        }
        let medians = try await medians(of: measured)
        print("rows per notification: \(rows)")
        print("batches of \(batch), one connection, \(sharedBuffers) of shared buffers")
        report(measured.map(\.0), medians, "notifications/s")
    }

    private func measureAccess(on bench: Bench, _ reference: Reference, patterns: Int) async throws {
        let tokens = try await Filler(url: reference.url, batch: batch, patterns: patterns)
            .fill(subscriptions: access) { say($0) }
        let ledger = try await Ledger(reference.url, isMigrated: true)
        let measured: [(String, (Double) async throws -> Double)] = [
            (
                "pgbench, select of one narrow row by key",
                { try await Reference.selects(on: reference.url, rows: access, seconds: $0) }
            ),
            (
                "what one account among \(access) subscriptions may use",
                { try await ledger.accessRate(of: tokens, seconds: $0) }
            ),
        ]
        report(measured.map(\.0), try await medians(of: measured), "answers/s")
    }

    private func medians(of measured: [(String, (Double) async throws -> Double)]) async throws -> [Double] {
        var rates = [[Double]](repeating: [], count: measured.count)
        for round in 1...rounds {
            say("round \(round) of \(rounds)")
            for (index, (_, measure)) in measured.enumerated() { rates[index].append(try await measure(seconds)) }
        }
        return rates.map { $0.sorted()[$0.count / 2] }
    }

    private func report(_ names: [String], _ medians: [Double], _ unit: String) {
        print("median of \(rounds) rounds of \(seconds) s")
        print("\(unit)    ratio  what")
        for (median, name) in zip(medians, names) {
            print(String(format: "%15.0f %8.2f  ", median, median / medians[0]) + name)
        }
    }

    private func say(_ text: String) { FileHandle.standardError.write(Data("\(text)\n".utf8)) }
}

/// Runs work for so long and says how many it did a second.
func perSecond(_ seconds: Double, _ work: () async throws -> Int) async throws -> Double {
    let clock = ContinuousClock()
    let start = clock.now
    var done = 0
    var elapsed = Duration.zero
    while elapsed < .seconds(seconds) {
        done += try await work()
        elapsed = start.duration(to: clock.now)
    }
    return Double(done) / (elapsed / .seconds(1))
}
