import CRDKafka
import Foundation
import Logging
import Synchronization

/// The thread of a producer: it serves librdkafka's queue and settles deliveries.
///
/// A thread rather than an actor, because it blocks on that queue. It owns the client and destroys it at its
/// end, so that no other thread waits for that.
final class DeliveryPump: Sendable {
    private struct State {
        /// Nil once the thread has ended.
        var handle: ProducerHandle?
        var phase = Phase.running
        var fatal: KafkaError?
        var reportsServed = 0
        var timed: [Timed] = []
        var waitingForRoom: [CheckedContinuation<Void, Never>] = []
        var waitingForEnd: [CheckedContinuation<Void, Never>] = []

        /// Whether something ends at a time and not by an event.
        var isTimed: Bool { phase != .running || !timed.isEmpty || !waitingForRoom.isEmpty }

        /// Changes what the thread waits for, and wakes it where it waits for events alone.
        mutating func wake(_ change: (inout State) -> Void) {
            let wasTimed = isTimed
            change(&self)
            if !wasTimed { handle?.wake() }
        }

        mutating func takeWaitingForRoom() -> [CheckedContinuation<Void, Never>] {
            defer { waitingForRoom = [] }
            return waitingForRoom
        }

        mutating func takeWaitingForEnd() -> [CheckedContinuation<Void, Never>] {
            defer { waitingForEnd = [] }
            return waitingForEnd
        }
    }

    /// A delivery that is not waited for without end.
    private struct Timed {
        /// What happens next: the partition is late, or the wait ends.
        var next: ContinuousClock.Instant
        let end: ContinuousClock.Instant
        let delivery: PendingSend
    }

    private enum Phase: Equatable {
        case running
        /// Nothing new is accepted; what is in flight may arrive.
        case draining(until: ContinuousClock.Instant)
        /// Purged: librdkafka is returning the rest as failures.
        case purging
    }

    /// How exact a `deadline` is, and how soon a waiting sender checks again.
    private static let tick = Duration.milliseconds(20)
    /// How long the thread waits for events where nothing is timed.
    private static let rest = Duration.seconds(1)

    private let state: Mutex<State>
    private let logger: Logger
    private let onStatistics: (@Sendable (KafkaStatistics) -> Void)?
    private let choices = PartitionChoices()

    init(
        settings: [String: String], logger: Logger, onStatistics: (@Sendable (KafkaStatistics) -> Void)?
    ) throws {
        let handle = try ProducerHandle(settings: settings, choices: choices, logger: logger)
        state = Mutex(State(handle: handle))
        self.logger = logger
        self.onStatistics = onStatistics
        let thread = Thread { [self] in
            work(handle)
            end()
        }
        thread.name = "kafka-produce"
        thread.stackSize = 1 << 20
        thread.start()
    }

    /// The lock is held while a record is enqueued: none may be enqueued after the end of the thread that would report it.
    func enqueue(_ record: ProducerRecord, for delivery: PendingSend, index: Int = 0) throws {
        try state.withLock { state in
            if let fatal = state.fatal { throw fatal }
            guard state.phase == .running, let handle = state.handle else { throw KafkaError.closed("producer") }
            do {
                try handle.enqueue(record, for: delivery, index: index)
            } catch let error as KafkaError where error.meaning == .fatal {
                fail(error, &state)
                throw error
            }
        }
    }

    /// Ends the sender's wait, not the delivery: the record may still be written.
    /// - Parameter late: when its partition counts as one that confirms nothing. Where another one may, the wait ends then, with
    ///   ``PartitionIsLate``.
    func expire(_ delivery: PendingSend, at end: ContinuousClock.Instant, lateAt late: ContinuousClock.Instant? = nil) {
        let timed = Timed(next: min(late ?? end, end), end: end, delivery: delivery)
        state.withLock { state in state.wake { $0.timed.append(timed) } }
    }

    /// The fatal error that ended this client.
    var fatalError: KafkaError? { state.withLock { $0.fatal } }

    /// Read before an attempt that may meet a full queue, and passed to `room`.
    var reportsServed: Int { state.withLock { $0.reportsServed } }

    /// Returns when reports have been served since, or a tick has passed: then there may be room in the queue.
    func room(since served: Int) async {
        await withCheckedContinuation { continuation in
            let isLate = state.withLock { state in
                guard state.reportsServed == served, state.handle != nil else { return true }
                state.wake { $0.waitingForRoom.append(continuation) }
                return false
            }
            if isLate { continuation.resume() }
        }
    }

    /// Accepts nothing new. What is in flight has until the deadline, then it fails.
    func drain(within deadline: Duration) {
        state.withLock { state in
            guard state.phase == .running else { return }
            state.wake { $0.phase = .draining(until: .now + deadline) }
        }
    }

    /// Returns when every delivery is settled and the client is gone.
    func ended() async {
        await withCheckedContinuation { continuation in
            let isLate = state.withLock { state in
                guard state.handle != nil else { return true }
                state.waitingForEnd.append(continuation)
                return false
            }
            if isLate { continuation.resume() }
        }
    }

    /// For blocking requests; nil once ended.
    func withHandle<Result>(_ body: (ProducerHandle) throws -> Result) rethrows -> Result? {
        try state.withLock { $0.handle }.map(body)
    }

    // MARK: On the thread

    private func work(_ handle: ProducerHandle) {
        var nextSweep = ContinuousClock.now + Self.tick
        while true {
            serve(handle.serve(within: state.withLock(\.isTimed) ? Self.tick : Self.rest))
            guard ContinuousClock.now >= nextSweep || isEnding else { continue }
            nextSweep = .now + Self.tick
            sweep()
            if isEnding, advanceTheEnd(of: handle) { return }
        }
    }

    private func serve(_ occurrence: ProducerHandle.Occurrence?) {
        switch occurrence {
        case .reports(let count):
            let waiting = state.withLock { state in
                state.reportsServed += count
                return state.takeWaitingForRoom()
            }
            for continuation in waiting { continuation.resume() }
        case .failure(let error) where error.meaning == .fatal:
            state.withLock { fail(error, &$0) }
        case .failure(let error):
            logger.warning("Kafka producer: \(error)", metadata: ["code": "\(error.name)"])
        case .statistics(let statistics):
            onStatistics?(statistics)
        case .other, nil:
            break
        }
    }

    private func fail(_ error: KafkaError, _ state: inout State) {
        guard state.fatal == nil else { return }
        state.fatal = error
        state.wake { $0.phase = .draining(until: .now) }
        logger.error(
            "Kafka producer cannot be used any more; the next record creates another: \(error)",
            metadata: ["code": "\(error.name)"])
    }

    private var isEnding: Bool { state.withLock { $0.phase != .running } }

    private func sweep() {
        let now = ContinuousClock.now
        let (late, waiting) = state.withLock { state in
            state.timed.removeAll { $0.delivery.isSettled }
            let late = state.timed.filter { $0.next <= now }
            state.timed.removeAll { $0.next <= now }
            return (late, state.takeWaitingForRoom())
        }
        for timed in late {
            if timed.next < timed.end {
                if let place = timed.delivery.place, choices.isLate(place) {
                    timed.delivery.abandon(PartitionIsLate())
                } else {
                    expire(timed.delivery, at: timed.end)
                }
                continue
            }
            timed.delivery.abandon(
                KafkaError(
                    RD_KAFKA_RESP_ERR__TIMED_OUT, doing: "write",
                    detail: "no confirmation within the deadline; the record may be stored all the same"))
        }
        for continuation in waiting { continuation.resume() }
    }

    /// - Returns: true when no report is outstanding.
    private func advanceTheEnd(of handle: ProducerHandle) -> Bool {
        if handle.outstanding == 0 { return true }
        let mustPurge = state.withLock { state in
            guard case .draining(let until) = state.phase, until <= .now else { return false }
            state.phase = .purging
            return true
        }
        if mustPurge { handle.purge() }
        return false
    }

    /// Dropping the handle destroys the client, here.
    private func end() {
        _ = state.withLock { $0.handle.take() }
        let (room, end, timed) = state.withLock { state in
            (state.takeWaitingForRoom(), state.takeWaitingForEnd(), state.timed)
        }
        for timed in timed { timed.delivery.abandon(KafkaError.closed("producer")) }
        for continuation in room + end { continuation.resume() }
    }
}

/// The partition of a record has confirmed nothing for a while, and another one may.
struct PartitionIsLate: Error {}
