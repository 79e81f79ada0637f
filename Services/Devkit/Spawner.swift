import Commands
import Development
import Foundation
import Threads

/// Starts child processes that do not outlive this process.
///
/// The kernel's parent-death signal refers to the parent thread. So one thread, which lives as long as this object,
/// starts all children; they hold the object. Foundation's `Process` notices an exit only once every process has ended
/// that inherited a certain descriptor.
actor Spawner {
    private let thread = DedicatedThread(name: "spawner")

    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    /// Starts a program in its own process group, so that Ctrl-C reaches only this process.
    /// - Parameters:
    ///   - name: see ``ChildProcess/name``.
    ///   - environment: all of it; nothing is inherited.
    ///   - log: file that standard error is appended to, and standard output where `output` is nil.
    ///   - output: file that standard output is appended to.
    func start(
        _ name: String, program: String, arguments: [String] = [], environment: [String: String], log: String,
        output: String? = nil
    ) throws -> ChildProcess {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        let writing = O_WRONLY | O_CREAT | O_APPEND
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, log, writing, 0o600)
        if let output {
            posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output, writing, 0o600)
        } else {
            posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO)
        }
        // Otherwise the child would keep this process's sockets open. Closing a closed descriptor is no error.
        for descriptor in Self.openDescriptors() where descriptor > STDERR_FILENO {
            posix_spawn_file_actions_addclose(&actions, descriptor)
        }

        var attributes = try Self.attributes()
        defer { posix_spawnattr_destroy(&attributes) }
        let command = Self.mortal(program, arguments)
        var words = command.map { strdup($0) } + [nil]
        var variables = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { (words + variables).forEach { free($0) } }
        var identifier: pid_t = 0
        let error = ProcessStart.withLock {
            posix_spawn(&identifier, command[0], &actions, &attributes, &words, &variables)
        }
        guard error == 0 else {
            throw CommandError(
                "\(program) cannot be started with its log in \(log): \(String(cString: strerror(error)))")
        }
        return watch(ChildProcess(name: name, identifier: identifier, log: log, startedBy: self))
    }

    private nonisolated func watch(_ child: ChildProcess) -> ChildProcess {
        Thread.detachNewThread { child.waitUntilItEnds() }
        return child
    }

    private static func openDescriptors() -> [Int32] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        return names.compactMap { Int32($0) }
    }

    /// Resets blocked and ignored signals.
    private static func attributes() throws -> posix_spawnattr_t {
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        posix_spawnattr_setpgroup(&attributes, 0)
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        for signal in [SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGTERM] { sigaddset(&signals, signal) }
        posix_spawnattr_setsigdefault(&attributes, &signals)
        return attributes
    }

    /// The program under `setpriv`, which sets the parent-death signal and then executes it.
    private static func mortal(_ program: String, _ arguments: [String]) -> [String] {
        let wrapper = "/usr/bin/setpriv"
        guard FileManager.default.isExecutableFile(atPath: wrapper) else { return [program] + arguments }
        return [wrapper, "--pdeathsig=KILL", "--", program] + arguments
    }
}
