import ArgumentParser
import Storage

/// Who does something by hand and why, for the trail.
struct HandOptions: ParsableArguments {
    @Option(name: .customLong("as"), help: "Who does it. Default: the user at the keyboard.")
    var actor: String?

    @Option(help: "Why, in a sentence for whoever reads the trail.")
    var note: String?

    /// Writes down that it was done; `storekeeper trail` shows it.
    /// - Parameters:
    ///   - action: the command.
    ///   - subjects: to what.
    func record(
        _ action: String, on subjects: [String], to trail: OperatorActionStore, in surroundings: Surroundings
    ) async throws {
        let now = surroundings.now()
        try await trail.record(
            subjects.map {
                OperatorAction(
                    actedAt: now, actor: actor ?? surroundings.user, action: action, subject: $0, note: note)
            })
    }
}
