import ArgumentParser
import Development
import Foundation
import Postgres

/// Notifications per second through the one transaction of the state-updater, compared with pgbench, which writes the same
/// rows of the same tables on the same server; with --fill, also into a ledger that holds millions.
@main
struct LedgerBenchmark: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "ledger-benchmark")

    @Option(help: "Number of rounds; each measures everything once.")
    var rounds = 5
    @Option(help: "Duration of a measurement, seconds.")
    var seconds = 4.0
    @Option(help: "Notifications per transaction.")
    var batch = 500
    @Option(help: "Also measure in a ledger with so many notifications and as many seen ones.")
    var fill = 0
    @Option(help: "Number of seen notifications instead; each needs 130 bytes of disk.")
    var seen: Int?
    @Option(help: "Measure instead answers about one account among so many subscriptions.")
    var access = 0
    @Option(help: "shared_buffers of the server; the index of seen notifications should fit.")
    var sharedBuffers = "1GB"
    @Flag(
        help: "Do not synchronize commits to disk, which shows the processor's cost and not production's.")
    var noSync = false

    func run() async throws {
        say("signing the notifications of 2,000 subscriptions")
        let samples = try SampleBatches(batch: batch)
        let server = try await DevelopmentPostgres.start(
            durability: noSync ? .none : .full, sharedBuffers: sharedBuffers)
        let result: Result<Void, any Error>
        do { result = .success(try await measure(samples, on: server)) } catch { result = .failure(error) }
        await server.stop()
        try result.get()
    }

    private func measure(_ samples: SampleBatches, on server: DevelopmentPostgres) async throws {
        let databases = DatabaseServer(server: server.url)
        let reference = try await Reference(databases, samples: samples)
        let literals = try await LiteralReference(reference, patterns: samples.batches)
        defer {
            literals.remove()
            reference.remove()
        }
        if access > 0 { return try await measureAccess(on: reference, patterns: samples.batches) }
        let rows = try await reference.rowsPerNotification()
        var measured: [(String, (Double) async throws -> Double)] = [
            ("pgbench, the same rows, from tables of the server", { try await reference.rate(seconds: $0) }),
            ("pgbench, the same rows, sent as literals", { try await literals.rate(seconds: $0) }),
        ]
        let empty = try await Ledger(databases.create("small"), isMigrated: false)
        for _ in 0..<10 { _ = try await empty.apply(samples) }
        // Plans that were made for empty tables stay until the server next analyzes them: begin with others.
        await empty.close()
        let database = try await Ledger(databases.url("small"), isMigrated: true)
        measured.append(("the one transaction", { try await database.rate(samples, seconds: $0) }))
        measured.append(
            (
                "the state-updater: read, processed, applied",
                { try await database.stateUpdaterRate(samples, seconds: $0) }
            ))
        measured.append(("markSeen", { try await database.seenRate(samples, seconds: $0) }))
        let seenCount = seen ?? fill
        if fill > 0 || seenCount > 0 {
            try await databases.copy("reference", to: "filled")
            let filler = Filler(url: databases.url("filled"), batch: batch, patterns: samples.batches)
            try await filler.fill(notifications: fill, seen: seenCount) { say($0) }
            let full = try await Ledger(databases.url("filled"), isMigrated: true)
            measured.append(
                ("the one transaction, \(fill) in the ledger", { try await full.rate(samples, seconds: $0) }))
            measured.append(
                ("markSeen, \(seenCount) seen", { try await full.seenRate(samples, seconds: $0) }))
            print(try await filler.sizes())
        }
        let medians = try await medians(of: measured)
        print("rows per notification: \(rows)")
        print("batches of \(batch), one connection, \(sharedBuffers) of shared buffers")
        report(measured.map(\.0), medians, "notifications/s")
    }

    private func measureAccess(on reference: Reference, patterns: Int) async throws {
        let tokens = try await Filler(url: reference.url, batch: batch, patterns: patterns)
            .fill(subscriptions: access) { say($0) }
        // As the API's connections.
        let ledger = try await Ledger(reference.url, isMigrated: true, plansOnce: true)
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

/// Runs work for so long and returns its rate per second.
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
