import Foundation
import Synchronization

/// A child process that is terminated with this one.
final class ChildProcess: Sendable {
    /// How a process ended.
    enum Ending: Sendable, Hashable, CustomStringConvertible {
        case exit(Int32)
        case signal(Int32)

        /// From what `waitpid` says.
        init(status: Int32) {
            self = status & 0x7F == 0 ? .exit(status >> 8 & 0xFF) : .signal(status & 0x7F)
        }

        var description: String {
            switch self {
            case .exit(let code): "exit \(code)"
            case .signal(let number): "signal \(number)"
            }
        }
    }

    private struct State {
        var ending: Ending?
        var waiting: [CheckedContinuation<Ending, Never>] = []
    }

    /// Name for messages and the log file, such as `verifier-2`.
    let name: String
    let identifier: Int32
    /// File of its output.
    let log: String
    private let state: Mutex<State>
    /// Keeps the spawner alive: the kernel kills the process when its thread ends.
    private let spawner: Spawner

    /// Created by ``Spawner`` only, which reaps it.
    init(name: String, identifier: Int32, log: String, startedBy spawner: Spawner) {
        self.spawner = spawner
        self.name = name
        self.identifier = identifier
        self.log = log
        state = Mutex(State())
    }

    /// Blocks the thread until the process has ended, and resumes all waiters. Called once, by ``Spawner``.
    func waitUntilItEnds() {
        var information = siginfo_t()
        // WNOWAIT keeps the process id reserved until no more signals can be sent to it.
        while waitid(P_PID, id_t(identifier), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
        let (ending, waiting) = state.withLock { state in
            var status: Int32 = 0
            waitpid(identifier, &status, 0)
            let ending = Ending(status: status)
            state.ending = ending
            defer { state.waiting = [] }
            return (ending, state.waiting)
        }
        for continuation in waiting { continuation.resume(returning: ending) }
    }

    var isRunning: Bool { state.withLock { $0.ending == nil } }

    /// Waits for the end of the process.
    func ending() async -> Ending {
        await withCheckedContinuation { continuation in
            let ending = state.withLock { state in
                if state.ending == nil { state.waiting.append(continuation) }
                return state.ending
            }
            if let ending { continuation.resume(returning: ending) }
        }
    }

    /// Sends a signal, unless the process has ended: its id may be in use by another process then.
    func send(_ signal: Int32) {
        state.withLock { if $0.ending == nil { kill(identifier, signal) } }
    }

    /// Sends SIGTERM, and SIGKILL after the deadline.
    @discardableResult func stop(deadline: Duration) async -> Ending {
        send(SIGTERM)
        let force = Task {
            try await Task.sleep(for: deadline)
            send(SIGKILL)
        }
        defer { force.cancel() }
        return await ending()
    }

    /// The last lines of the log.
    func logTail(lines: Int = 12) -> String {
        guard let file = FileHandle(forReadingAtPath: log), let end = try? file.seekToEnd() else { return "" }
        try? file.seek(toOffset: end - min(end, 16_384))
        let text = String(decoding: (try? file.readToEnd()) ?? Data(), as: UTF8.self)
        return text.split(separator: "\n").suffix(lines).joined(separator: "\n")
    }
}
