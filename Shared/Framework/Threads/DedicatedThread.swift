import Foundation

/// A serial executor that runs its actor on one operating-system thread of its own.
///
/// Handles of C libraries live on such an actor: a call may block there for as long as it likes, because the
/// cooperative pool never runs it, and the handle needs no lock, because one thread touches it. A dispatch queue was
/// turned down: it borrows threads from a pool that other blocking calls can exhaust.
public final class DedicatedThread: SerialExecutor {
    private let mailbox = Mailbox()

    /// Starts the thread.
    /// - Parameter name: shown by debuggers and `top -H`; Linux keeps the first 15 bytes.
    public init(name: String) {
        // The thread holds the mailbox, not the executor, so that the executor can go when its actor goes.
        let thread = Thread { [mailbox] in mailbox.work() }
        thread.name = name
        thread.stackSize = 1 << 20
        thread.start()
    }

    deinit { mailbox.close() }

    /// Called by the runtime for each step of the actor.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let executor = asUnownedSerialExecutor()
        mailbox.post { job.runSynchronously(on: executor) }
    }
}

/// `@unchecked Sendable` because `condition` guards both variables.
private final class Mailbox: @unchecked Sendable {
    private let condition = NSCondition()
    private var jobs: [() -> Void] = []
    private var isClosed = false

    func post(_ job: @escaping () -> Void) {
        condition.withLock {
            jobs.append(job)
            condition.signal()
        }
    }

    func close() {
        condition.withLock {
            isClosed = true
            condition.signal()
        }
    }

    func work() {
        while let jobs = take() {
            for job in jobs { job() }
        }
    }

    /// What has been posted, in order; waits when there is nothing; nil once closed and empty.
    private func take() -> [() -> Void]? {
        condition.withLock {
            while jobs.isEmpty, !isClosed { condition.wait() }
            guard !jobs.isEmpty else { return nil }
            defer { jobs.removeAll() }
            return jobs
        }
    }
}
