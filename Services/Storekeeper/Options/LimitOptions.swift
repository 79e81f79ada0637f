import ArgumentParser

/// The length of a list.
struct LimitOptions: ParsableArguments {
    @Option(help: "Maximum number of rows.")
    var limit = 50

    func validate() throws {
        guard limit > 0 else { throw ValidationError("--limit \(limit) is out of range: at least 1") }
    }
}
