import Development
import Foundation
import Testing
import Threads

/// The built command as a process of its own.
actor SpawnedIngest {
    struct End: Sendable {
        var code: Int32
        var output: String
        var complaint: String
    }

    private let thread = DedicatedThread(name: "spawned")
    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }
    private let process = Process()
    private let output = Pipe()
    private let complaint = Pipe()
    private var unread: [UInt8] = []

    /// Starts it with this environment and nothing else in it.
    init(_ arguments: [String] = [], environment: [String: String]) throws {
        let products = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
        process.executableURL = products.appending(path: "ingest")
        process.arguments = arguments
        process.environment = environment
        process.standardOutput = output
        process.standardError = complaint
        process.standardInput = FileHandle.nullDevice
        try process.start()
    }

    deinit { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }

    /// The field `port` of the first log line with this message; reads until it appears.
    func port(fromLineSaying message: String) throws -> Int {
        while let line = nextLine() {
            let object = try #require(try JSONSerialization.jsonObject(with: Data(line)) as? [String: Any])
            guard object["message"] as? String == message, let context = object["context"] as? [String: Any] else {
                continue
            }
            return try #require((context["port"] as? String).flatMap(Int.init))
        }
        throw CocoaError(.fileReadCorruptFile)
    }

    func terminate() { kill(process.processIdentifier, SIGTERM) }

    /// The rest of its output, and its exit code.
    func end() -> End {
        let rest = (try? output.fileHandleForReading.readToEnd()) ?? Data()
        let complaint = (try? complaint.fileHandleForReading.readToEnd()) ?? Data()
        process.waitUntilExit()
        return End(
            code: process.terminationStatus, output: String(decoding: unread + rest, as: UTF8.self),
            complaint: String(decoding: complaint, as: UTF8.self))
    }

    private func nextLine() -> [UInt8]? {
        while true {
            if let newline = unread.firstIndex(of: UInt8(ascii: "\n")) {
                defer { unread.removeFirst(newline + 1) }
                return Array(unread[..<newline])
            }
            let more = output.fileHandleForReading.availableData
            guard !more.isEmpty else { return nil }
            unread += more
        }
    }
}
