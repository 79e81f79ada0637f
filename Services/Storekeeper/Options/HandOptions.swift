import ArgumentParser

/// Who does something by hand and why, for the trail.
struct HandOptions: ParsableArguments {
    @Option(name: .customLong("as"), help: "Who does it. Default: the user at the keyboard.")
    var actor: String?

    @Option(help: "Why, in a sentence for whoever reads the trail.")
    var note: String?

    func hand(in surroundings: Surroundings) -> Hand { Hand(actor: actor ?? surroundings.user, note: note) }
}
