import ArgumentParser
import Contracts
import Foundation
import Operations

/// What has to be so for a dead letter to be meant.
struct DeadLetterQueryOptions: ParsableArguments {
    @Option(help: "Only those that this stage rejected, such as verifier.")
    var stage: String?

    @Option(help: "Only this reason, such as app-unknown.")
    var reason: String?

    @Option(help: "Bundle id in the payload, which may not be verified (default: all).")
    var app: String?

    @Option(help: "Environment in the payload (default: all).")
    var environment: StoreEnvironment?

    @Option(help: "Only rejected at or after this time: \(TimeArgument.help).")
    var from: TimeArgument?

    @Option(help: "Only rejected before this time.")
    var to: TimeArgument?

    /// Whether any filter was given.
    var isGiven: Bool {
        stage != nil || reason != nil || app != nil || environment != nil || from != nil || to != nil
    }

    func query(now: Date) throws -> DeadLetterQuery {
        let range = try DateRange(from: from, to: to, now: now)
        return DeadLetterQuery(
            stage: stage, reason: reason, app: app, environment: environment, from: range.from, to: range.to)
    }
}

/// The dead letters to act on: by id, or all open ones that match the filters.
struct DeadLetterSelectionOptions: ParsableArguments {
    @Argument(help: "Ids of dead letters, as listed: partition/offset, such as 3/17.", transform: DeadLetterID.read)
    var deadLetters: [DeadLetterID] = []

    @Flag(help: "Select all open dead letters that match the other options.")
    var all = false

    @OptionGroup var query: DeadLetterQueryOptions

    func validate() throws {
        if deadLetters.isEmpty, !all {
            throw ValidationError("no dead letters selected: give ids such as 3/17, or --all")
        }
        if !deadLetters.isEmpty, all || query.isGiven {
            throw ValidationError("ids exclude --all and the options that filter it; use one of the two")
        }
    }

    func selection(now: Date) throws -> DeadLetterSelection {
        deadLetters.isEmpty ? .open(try query.query(now: now)) : .named(deadLetters)
    }
}
