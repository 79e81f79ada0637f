import ArgumentParser
import Storage

/// `storekeeper rejected resolve`.
struct RejectedResolve: Verb {
    static let configuration = CommandConfiguration(
        commandName: "resolve", abstract: "Lay dead letters aside, with a note that says why.",
        discussion: "They stay in the log until it forgets them, and in the trail for ever.")

    @OptionGroup var kafka: KafkaOptions
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var hand: HandOptions
    @OptionGroup var selected: LetterSelectionOptions

    func validate() throws {
        guard let note = hand.note, !note.allSatisfy(\.isWhitespace) else {
            throw ValidationError("say why with --note")
        }
    }

    func run(in surroundings: Surroundings) async throws {
        let connection = try database.connection(for: "rejected resolve", in: surroundings)
        let log = try await DeadLetterLog(try kafka.configuration(in: surroundings))
        let trail = LetterTrail(store: OperatorActionStore(connection), cluster: log.cluster)
        let letters = try await log.selected(selected.selection(now: surroundings.now()), trail)
        await log.close()
        try await hand.record(
            LetterTrail.resolved, on: trail.subjects(letters), to: trail.store, in: surroundings)
        surroundings.print("\(letters.count) dead letters resolved.")
    }
}
