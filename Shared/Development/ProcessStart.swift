import Foundation
import Synchronization

/// Keeps the start of a child process apart from what must not happen during one.
///
/// Until a child has become its program, it has a copy of every socket of this process, and what is closed meanwhile stays
/// open. librdkafka's mock cluster closes a listener and binds its port again when a broker goes down, and aborts the process
/// where that fails.
public enum ProcessStart {
    private static let lock = Mutex(())

    /// Runs the body while no other one runs.
    public static func withLock<Result>(_ body: () throws -> Result) rethrows -> Result {
        try lock.withLock { _ in try body() }
    }
}

extension Process {
    /// Like `run`, and not while a ``DevelopmentBroker`` goes down.
    public func start() throws { try ProcessStart.withLock { try run() } }
}
