import AppStore
import ArgumentParser
import Foundation
import Kafka
import Storage

/// `storekeeper backfill`: what Apple knows of customers comes onto the line, for a start or where its history of
/// notifications does not reach.
struct Backfill: Verb {
    static let configuration = CommandConfiguration(
        commandName: "backfill", abstract: "Put all that Apple knows of customers onto the line.",
        discussion: """
            FILE holds one original transaction id per line; empty lines and what follows a # do not count. Everything \
            comes signed and passes all checks; nothing older overwrites what is known. What is done is written to the \
            progress file, so that the same command goes on after an interruption; what Apple refused is tried again then. \
            With a database to write to, the trail keeps who did it and why.

            Exit codes: 0 all done; 1 some were refused by Apple or could not be proven, or the world failed; 130 \
            interrupted.
            """)

    @OptionGroup var apple: AppleOptions
    @OptionGroup var kafka: KafkaOptions
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var hand: HandOptions

    @Argument(help: "The file of original transaction ids.")
    var file: String

    @Option(help: "Where to write what is done. Default: FILE.progress.")
    var progress: String?

    @Option(help: "How many customers to ask about at the same time.")
    var parallel = 20

    @Flag(help: "Say how many there are and how many are left, and do nothing.")
    var dryRun = false

    func validate() throws {
        guard (1...200).contains(parallel) else { throw ValidationError("--parallel must lie between 1 and 200") }
    }

    func run(in surroundings: Surroundings) async throws {
        guard let content = FileManager.default.contents(atPath: file) else {
            throw ValidationError("\(file.visible) cannot be read")
        }
        let ids = try CustomerList(String(decoding: content, as: UTF8.self)).ids
        let book = try BackfillBook(at: progress ?? file + ".progress")
        let left = ids.filter { !book.done.contains($0) }
        guard !dryRun else {
            return surroundings.print(
                "\(ids.count) customers, \(ids.count - left.count) of them done, \(left.count) left.")
        }
        let producer = try Producer(try kafka.configuration(in: surroundings), logger: .silent)
        let tally = try await apple.withClient(in: surroundings) { client in
            let run = BackfillRun(
                client: client, producer: producer, book: book, parallel: parallel, now: surroundings.now)
            return try await Interruption.interrupting {
                try await run.run(left, of: ids.count)
            }
        }
        await producer.close(deadline: .seconds(5))
        if database.isGiven(in: surroundings) {
            let connection = try database.connection(for: "backfill", in: surroundings)
            try await hand.record(
                "backfill", on: ["\(file), \(tally.customers) customers"], to: OperatorActionStore(connection),
                in: surroundings)
        }
        for (id, reason) in tally.refused.sorted(by: { $0.key < $1.key }) {
            surroundings.warn("\(id): \(reason)".visible)
        }
        surroundings.print(
            "\(tally.customers) customers, \(tally.parts) signed parts put onto the line, "
                + "\(tally.refused.count) refused.")
        if !tally.refused.isEmpty { throw Exit.failed.code }
    }
}
