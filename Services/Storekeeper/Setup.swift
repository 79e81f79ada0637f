import ArgumentParser
import Foundation

/// `storekeeper setup`: becomes the program `setup`, so that there is one place that knows how to.
struct Setup: Verb {
    static let configuration = CommandConfiguration(
        commandName: "setup", abstract: "Create the topics and bring the database to the newest schema.",
        discussion: """
            Runs the program setup with the same environment; `storekeeper setup --help` prints its variables. Safe to \
            repeat, and to run twice at once.
            """,
        helpNames: [])

    @Argument(parsing: .captureForPassthrough, help: "Passed on.")
    var arguments: [String] = []

    func run(in surroundings: Surroundings) async throws {
        let path = try Programs(beside: surroundings.executable).path(of: "setup")
        var pointers = ([path] + arguments).map { strdup($0) } + [nil]
        execv(path, &pointers)
        // Only a failure comes back.
        throw Failure("\(path) cannot be run: \(String(cString: strerror(errno)))")
    }
}
