import ArgumentParser
import Foundation

/// What has to be so for a dead letter to be meant.
struct LetterQueryOptions: ParsableArguments {
    @Option(help: "Only those that this stage refused, such as verifier.")
    var stage: String?

    @Option(help: "Only those refused for this reason, such as app-unknown.")
    var reason: String?

    @Option(help: "Refused at or after, \(When.help).")
    var from: When?

    @Option(help: "Refused before.")
    var to: When?

    /// Whether any of them was given.
    var isGiven: Bool { stage != nil || reason != nil || from != nil || to != nil }

    func query(now: Date) throws -> LetterQuery {
        let stretch = try Stretch(from: from, to: to, now: now)
        return LetterQuery(stage: stage, reason: reason, from: stretch.from, to: stretch.to)
    }
}

/// Which dead letters something is done to: some by name, or all open ones that a query accepts.
struct LetterSelectionOptions: ParsableArguments {
    @Argument(help: "Names as rejected list shows them, such as 3/17.", transform: LetterID.read)
    var letters: [LetterID] = []

    @Flag(help: "All open ones that the other options accept.")
    var all = false

    @OptionGroup var query: LetterQueryOptions

    func validate() throws {
        if letters.isEmpty, !all { throw ValidationError("name dead letters, such as 3/17, or say --all") }
        if !letters.isEmpty, all || query.isGiven {
            throw ValidationError("name dead letters, or say --all with options that restrict it; not both")
        }
    }

    func selection(now: Date) throws -> LetterSelection {
        letters.isEmpty ? .open(try query.query(now: now)) : .named(letters)
    }
}
