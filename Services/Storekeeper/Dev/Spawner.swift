import Foundation
import Synchronization
import Threads

/// Starts programs that do not outlive us.
///
/// The kernel can tell a program that its parent died, but by parent it means the thread that started it. So one thread
/// starts all of them and lives as long as this object: keep it until they have ended.
actor Spawner {
    private let thread = DedicatedThread(name: "spawner")

    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    /// Starts a program.
    /// - Parameters:
    ///   - name: see ``ChildProcess/name``.
    ///   - environment: all of it; nothing is inherited.
    ///   - log: file that standard error is appended to, and standard output where `output` is nil.
    ///   - output: file that standard output is written to.
    func start(
        _ name: String, program: String, arguments: [String] = [], environment: [String: String], log: String,
        output: String? = nil
    ) throws -> ChildProcess {
        let process = Process()
        (process.executableURL, process.arguments) = Self.mortal(program, arguments)
        process.environment = environment
        process.standardInput = FileHandle.nullDevice
        let errors = try Self.opened(log)
        process.standardError = errors
        process.standardOutput = try output.map(Self.opened) ?? errors
        let box = Box()
        process.terminationHandler = { process in
            box.end(
                process.terminationReason == .exit
                    ? .exit(process.terminationStatus) : .signal(process.terminationStatus))
        }
        try process.run()
        let child = ChildProcess(name: name, identifier: process.processIdentifier, log: log)
        box.fill(child)
        return child
    }

    /// The program under `setpriv`, which asks the kernel to kill it when we die, in whatever way, and then becomes it.
    private static func mortal(_ program: String, _ arguments: [String]) -> (URL, [String]) {
        let wrapper = "/usr/bin/setpriv"
        guard FileManager.default.isExecutableFile(atPath: wrapper) else {
            return (URL(fileURLWithPath: program), arguments)
        }
        return (URL(fileURLWithPath: wrapper), ["--pdeathsig=KILL", "--", program] + arguments)
    }

    private static func opened(_ path: String) throws -> FileHandle {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw Failure("\(path) cannot be written: \(String(cString: strerror(errno)))")
        }
        return FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }
}

/// Brings the news of an end to a ``ChildProcess`` that may not have been made yet.
private final class Box: Sendable {
    private struct State {
        var child: ChildProcess?
        var ending: ChildProcess.Ending?
    }
    private let state = Mutex(State())

    func fill(_ child: ChildProcess) {
        let ending = state.withLock { state in
            state.child = child
            return state.ending
        }
        if let ending { child.ended(ending) }
    }

    func end(_ ending: ChildProcess.Ending) {
        let child = state.withLock { state in
            state.ending = ending
            return state.child
        }
        child?.ended(ending)
    }
}
