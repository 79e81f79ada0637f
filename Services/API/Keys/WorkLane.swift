import Foundation
import Operations
import Storage
import Synchronization

/// Work that keeps a processor busy, such as verifying signatures, on threads of its own and at a lower priority than requests.
///
/// The key that has cost least comes first, so a key that uploads forgeries waits behind its own, and a read of another key waits for
/// none of it.
final class WorkLane: Sendable {
    private struct Job: Sendable {
        var key: UUID
        var work: @Sendable () -> Void
    }

    /// `@unchecked Sendable` because `condition` guards the variables.
    private final class Jobs: @unchecked Sendable {
        private let condition = NSCondition()
        private var waiting: [UUID: [Job]] = [:]
        /// Seconds of processor time, since the key last had nothing to do at all.
        private var cost: [UUID: Double] = [:]
        private var leastCost = 0.0
        private var isClosed = false
        private var underWay = 0

        func count(of key: UUID) -> Int { condition.withLock { waiting[key]?.count ?? 0 } }
        var isBusy: Bool { condition.withLock { underWay > 0 } }

        func add(_ job: Job) {
            condition.withLock {
                // A key that comes back after a pause is not ahead of the others by all that it did not use.
                if waiting[job.key] == nil { cost[job.key] = max(cost[job.key] ?? 0, leastCost) }
                waiting[job.key, default: []].append(job)
                condition.signal()
            }
        }

        func close() {
            condition.withLock {
                isClosed = true
                condition.broadcast()
            }
        }

        func next() -> Job? {
            condition.withLock {
                while waiting.isEmpty, !isClosed { condition.wait() }
                let first = waiting.keys.min { (cost[$0] ?? 0, $0.uuidString) < (cost[$1] ?? 0, $1.uuidString) }
                guard let key = first, let job = waiting[key]?.first else { return nil }
                leastCost = cost[key] ?? 0
                waiting[key]?.removeFirst()
                if waiting[key]?.isEmpty ?? true { waiting[key] = nil }
                underWay += 1
                return job
            }
        }

        func done(_ key: UUID, _ seconds: Double) {
            condition.withLock {
                cost[key, default: 0] += seconds
                underWay -= 1
            }
        }
    }

    private let jobs = Jobs()
    private let budget: RateLimiter<UUID>
    private let instant: @Sendable () -> ContinuousClock.Instant

    /// - Parameters:
    ///   - seconds: of processor time that a key may use within a minute.
    ///   - threads: by default all cores but one, which is left to requests.
    init(
        seconds: Int = KeyLimits().verification,
        threads: Int = max(1, ProcessInfo.processInfo.activeProcessorCount - 1),
        instant: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        budget = RateLimiter(quota: seconds * 1000)
        self.instant = instant
        for number in 0..<threads {
            let thread = Thread { [jobs] in
                // Of this thread alone: requests come first.
                setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 10)
                while let job = jobs.next() { job.work() }
            }
            thread.name = "verify-\(number)"
            thread.stackSize = 1 << 20
            thread.start()
        }
    }

    deinit { jobs.close() }

    /// Work of a key that has not begun.
    func waiting(of key: UUID) -> Int { jobs.count(of: key) }

    /// Whether some work is under way.
    var isBusy: Bool { jobs.isBusy }

    /// Seconds until the key may use the lane again; nil where it may now.
    func pause(of key: UUID) -> Int? {
        let decision = budget.look(key, at: instant())
        return decision.isAllowed ? nil : max(1, decision.seconds)
    }

    /// Refuses a key that has used its time, before any work.
    func check(_ key: ClientKey) throws(Problem) {
        guard let seconds = pause(of: key.id) else { return }
        throw .exhausted(
            key, "has used its seconds of verification of this minute", seconds: seconds,
            "wait \(seconds) s, and upload each transaction once")
    }

    /// Does some work for a key, once it is its turn.
    func run<Value: Sendable>(for key: UUID, _ work: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { answer in
            jobs.add(
                Job(key: key) { [jobs, budget, instant] in
                    let start = Self.processorTime()
                    let value = work()
                    let seconds = Self.processorTime() - start
                    jobs.done(key, seconds)
                    budget.charge(key, seconds * 1000, at: instant())
                    answer.resume(returning: value)
                })
        }
    }

    /// Processor time of the calling thread, in seconds.
    private static func processorTime() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
