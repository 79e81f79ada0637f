import Foundation

/// A question to whoever sits at the terminal.
enum Confirmation {
    /// Nil where nobody can see the question or answer it.
    static var atTerminal: (@Sendable (String) async -> Bool)? {
        guard isatty(STDIN_FILENO) == 1, isatty(STDERR_FILENO) == 1 else { return nil }
        return ask
    }

    /// Everything but a yes is a no, an interruption too. Whoever waits does so on a thread of its own, so that a signal
    /// finds somebody who hears it.
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
