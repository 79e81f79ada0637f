import Development
import Foundation
import TestSupport

/// The built simulator, started by a test.
///
/// Its output goes to files, not pipes, which would have to be drained while it runs.
///
/// `@unchecked Sendable` because `Process` is used by the one task that started it.
final class Command: @unchecked Sendable {
    struct Outcome: Sendable {
        var status: Int32
        var output: String
        var errors: String
    }

    private let process = Process()
    private let directory: TemporaryDirectory
    private let ended: AsyncStream<Void>

    /// Starts it.
    init(_ arguments: [String]) throws {
        directory = try TemporaryDirectory()
        let (ended, end) = AsyncStream<Void>.makeStream()
        self.ended = ended
        let products = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        process.executableURL = products.appendingPathComponent("simulator")
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = try Self.file(at: directory.path("output"))
        process.standardError = try Self.file(at: directory.path("errors"))
        process.terminationHandler = { _ in end.finish() }
        try process.start()
    }

    convenience init(_ arguments: String...) throws { try self.init(arguments) }

    func terminate() { process.terminate() }

    func kill() { Foundation.kill(process.processIdentifier, SIGKILL) }

    /// Waits for the end.
    func outcome() async -> Outcome {
        for await _ in ended {}
        defer { directory.remove() }
        return Outcome(
            status: process.terminationStatus, output: text("output"), errors: text("errors"))
    }

    private func text(_ name: String) -> String {
        (try? String(contentsOfFile: directory.path(name), encoding: .utf8)) ?? ""
    }

    private static func file(at path: String) throws -> FileHandle {
        try Data().write(to: URL(fileURLWithPath: path))
        return try FileHandle(forWritingTo: URL(fileURLWithPath: path))
    }
}
