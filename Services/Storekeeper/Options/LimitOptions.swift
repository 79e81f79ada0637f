import ArgumentParser

/// How long a list may become.
struct LimitOptions: ParsableArguments {
    @Option(help: "At most so many.")
    var limit = 50

    func validate() throws {
        guard limit > 0 else { throw ValidationError("--limit must be at least 1") }
    }
}
