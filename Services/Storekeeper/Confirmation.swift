import Foundation

/// Asks for confirmation at the terminal.
enum Confirmation {
    /// Nil without a terminal on standard input and error.
    static var atTerminal: (@Sendable (String) async -> Bool)? {
        guard isatty(STDIN_FILENO) == 1, isatty(STDERR_FILENO) == 1 else { return nil }
        return ask
    }

    /// Anything but yes means no, including an interruption. Reads on a separate thread, so that signals are still
    /// handled.
    private static func ask(_ question: String) async -> Bool {
        try? FileHandle.standardError.write(contentsOf: Data("\(question.escaped) [y/N] ".utf8))
        let answers = AsyncStream<String> { answers in
            Thread.detachNewThread {
                answers.yield(readLine() ?? "")
                answers.finish()
            }
        }
        var answer = answers.makeAsyncIterator()
        return ["y", "yes"].contains((await answer.next() ?? "").lowercased())
    }
}
