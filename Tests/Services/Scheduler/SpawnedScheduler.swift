import AsyncHTTPClient
import Development
import Foundation
import Hummingbird
import Synchronization

/// The built command as a process of its own, with all that it says in a file.
final class SpawnedScheduler: Sendable {
    private let process: Mutex<Process>
    private let ended: AsyncStream<Int32>
    private let log: URL
    let identifier: Int32

    /// Starts it with this environment and nothing else in it.
    /// - Parameter directory: for its output; exists.
    init(environment: [String: String], directory: URL) throws {
        log = directory.appending(path: "\(UUID().uuidString).log")
        try Data().write(to: log)
        let output = try FileHandle(forWritingTo: log)
        let (ended, end) = AsyncStream<Int32>.makeStream()
        self.ended = ended
        let process = Process()
        process.executableURL = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
            .appending(path: "scheduler")
        process.environment = environment
        process.standardOutput = output
        process.standardError = output
        process.standardInput = FileHandle.nullDevice
        process.terminationHandler = { process in
            end.yield(process.terminationStatus)
            end.finish()
        }
        try process.start()
        identifier = process.processIdentifier
        self.process = Mutex(process)
    }

    deinit { process.withLock { if $0.isRunning { kill($0.processIdentifier, SIGKILL) } } }

    /// Waits until it ends by itself.
    /// - Returns: the exit code, or the number of the signal.
    func ending() async -> Int32? { await ended.first { _ in true } }

    /// - Returns: the exit code, or the number of the signal.
    func end(by signal: Int32) async -> Int32? {
        kill(identifier, signal)
        return await ended.first { _ in true }
    }

    /// Asks for its metrics until a line is among them, under a deadline.
    func shows(_ line: String) async -> Bool {
        let deadline = ContinuousClock.now.advanced(by: .hangLimit)
        while ContinuousClock.now < deadline {
            guard let port = output.firstMatch(of: /Admin server listens.*port\D+(\d+)/)?.1 else {
                await Task.yield()
                continue
            }
            let request = HTTPClientRequest(url: "http://127.0.0.1:\(port)/metrics")
            guard let answer = try? await HTTPClient.shared.execute(request, timeout: .seconds(5)),
                let body = try? await answer.body.collect(upTo: 1 << 20)
            else { continue }
            if String(buffer: body).split(separator: "\n").contains(Substring(line)) { return true }
        }
        return false
    }

    /// All that it has said.
    var output: String { (try? String(contentsOf: log, encoding: .utf8)) ?? "" }
}
