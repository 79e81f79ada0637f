import ArgumentParser
import Contracts
import Foundation

/// `storekeeper replay`: what was here once goes over the line again.
struct Replay: Verb {
    static let configuration = CommandConfiguration(
        commandName: "replay", abstract: "Put dead letters, or what the ledger holds, back onto the line.",
        discussion: """
            --rejected: the open dead letters (see also storekeeper rejected). --uuid, or --from (and --to): the signed \
            originals of the ledger. Everything passes all checks again. What the ledger knows has no effect a second \
            time, so of its own it sends only with --known: to see whether they pass today's checks, what does not \
            becoming a dead letter. What a bug made of notifications, storekeeper rebuild --repair puts right. The trail \
            keeps who did it and why. Exit codes: 0 all went; 1 some could not, because retention has dropped what they \
            said, they are known and --known was not said, or the world failed.
            """)

    @OptionGroup var kafka: KafkaOptions
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var hand: HandOptions
    @OptionGroup var output: OutputOptions

    @Flag(help: "The open dead letters.")
    var rejected = false

    @Option(help: "With --rejected: only of this stage.")
    var stage: String?

    @Option(help: "With --rejected: only with this reason.")
    var reason: String?

    @Option(
        name: .customLong("uuid"), help: "A notification of the ledger; repeat for several.",
        transform: UUIDArgument.read)
    var uuids: [UUID] = []

    @Option(help: "What was recorded (with --rejected: refused) at or after, \(When.help).")
    var from: When?

    @Option(help: "And before. Default: now.")
    var to: When?

    @Option(help: "Of the ledger: only Production or Sandbox.")
    var environment: StoreEnvironment?

    @Option(help: "Of the ledger: only of this app, by its bundle id.")
    var app: String?

    @Flag(help: "Of the ledger: send them although it knows them and nothing that is believed will change.")
    var known = false

    @Flag(help: "Say how many, how many of them the ledger knows, and do nothing.")
    var dryRun = false

    func validate() throws {
        let isWindow = !rejected && (from != nil || to != nil)
        if [rejected, !uuids.isEmpty, isWindow].count(where: { $0 }) != 1 {
            throw ValidationError("say one of --rejected, --uuid, or --from")
        }
        if isWindow, from == nil { throw ValidationError("--to needs --from") }
        if !rejected, stage != nil || reason != nil { throw ValidationError("--stage and --reason need --rejected") }
        if rejected, known { throw ValidationError("--known is for what the ledger holds") }
        if !isWindow, environment != nil || app != nil {
            throw ValidationError("--environment and --app need --from")
        }
    }

    func run(in surroundings: Surroundings) async throws {
        let now = surroundings.now()
        let stretch = try Stretch(from: from, to: to ?? (from == nil ? nil : .ago(0)), now: now)
        guard !rejected else {
            let query = LetterQuery(stage: stage, reason: reason, from: stretch.from, to: stretch.to)
            return try await LetterReplay(
                kafka: kafka, database: database, hand: hand, output: output, isDry: dryRun
            ).run(.open(query), in: surroundings)
        }
        let what: LedgerReplay.Selection =
            if uuids.isEmpty, let from = stretch.from {
                .window(from, stretch.to ?? now, environment, bundleId: app)
            } else {
                .uuids(uuids)
            }
        try await LedgerReplay(
            kafka: kafka, database: database, hand: hand, output: output, isDry: dryRun, isMeant: known
        ).run(what, in: surroundings)
    }
}
