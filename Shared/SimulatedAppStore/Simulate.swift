import Contracts
import Foundation
import Synchronization

/// One run: takes what is next, signs it, posts it, records the answer, until nothing is left.
///
/// One loop owns the outbox; each delivery is a task, so that signing and posting use all cores.
struct Simulate: Sendable {
    /// How long the loop sleeps at most before it checks for a signal or for room.
    private static let patience: Duration = .milliseconds(50)
    /// How long a run is silent.
    private static let progressInterval: Duration = .seconds(3)
    /// Notifications that one task signs ahead.
    private static let portion = 250

    let plan: Plan
    let signer: NotificationSigner
    let target: Target
    /// Nil without a record.
    let record: RunRecordWriter?
    /// Nil without a page that reports the backlog.
    let backlog: Backlog?
    /// Apple's history of the run; nil without an API.
    var historyStore: HistoryStore?
    let stop: StopSwitch
    /// The simulated present: nothing is signed after it.
    let present: @Sendable () -> Date
    /// The time of day, for the record.
    let now: @Sendable () -> Date
    /// The outbox, shared with the API; nil where there is none.
    var deliveryService: DeliveryService?
    /// Nil where simulated apps upload nothing.
    var uploadTarget: UploadTarget?
    /// Gets a line of progress every few seconds while something is sent.
    var tell: (@Sendable (String) -> Void)?

    private enum Event: Sendable {
        /// With the answers to uploads beside it.
        case answered(NotificationDelivery, Answer, uploads: [Answer])
        /// An upload instead of a delivery.
        case uploaded(Answer)
        case woke
    }

    private enum Turn: Sendable {
        case begin(Work)
        /// Nothing until then, or until an answer comes.
        case pause(until: ContinuousClock.Instant)
        /// Nothing until an answer comes.
        case await
        case finished
    }

    private enum Work: Sendable {
        case new(PendingNotification)
        case again(NotificationDelivery)
    }

    /// - Throws: where the record cannot be written or a signature fails; failures of the receiver are counted.
    func run() async throws -> Tally {
        try await withThrowingTaskGroup(of: Void.self) { group in
            if let backlog { group.addTask { await backlog.watch() } }
            defer { group.cancelAll() }
            return try await send()
        }
    }

    private func send() async throws -> Tally {
        let deliveryService = deliveryService ?? DeliveryService(Outbox(plan: plan, now: present()))
        let presigned = plan.isPresigned ? try await presign(deliveryService) : [:]
        let clock = ContinuousClock()
        let start = clock.now
        // Not that of the stop: the API may have been used for a day without anything to send.
        var lastAnswer = start
        var pace = Pace(rate: plan.rate)
        var count = Count(reportedPurchases: plan.reportedPurchases)
        var told = (at: start, line: "")
        try await withThrowingTaskGroup(of: Event.self) { group in
            var underway = 0
            var alarm: ContinuousClock.Instant?
            loop: while true {
                if let tell, clock.now - told.at >= Self.progressInterval {
                    let line = count.progress(planned: plan.count)
                    if line != told.line { tell(line) }
                    told = (clock.now, line)
                }
                switch turn(underway: underway, pace: pace, deliveryService: deliveryService, at: clock.now) {
                case .begin(let work):
                    if case .new(let pending) = work {
                        count.begin(pending)
                        // Here and not in the task, because the history changes in the order of the events.
                        if pending.invalidVariant == nil { historyStore?.note(pending.event) }
                    }
                    pace.begin(at: clock.now)
                    group.addTask { try await deliver(work, presigned) }
                    underway += 1
                    continue loop
                case .pause(let end):
                    if alarm.map({ end < $0 }) ?? true {
                        alarm = end
                        group.addTask {
                            try? await clock.sleep(until: end)
                            return .woke
                        }
                    }
                case .await: break
                case .finished: break loop
                }
                switch try await group.next() {
                case .uploaded(let answer):
                    underway -= 1
                    lastAnswer = clock.now
                    count.addUpload(answer)
                    deliveryService.withOutbox { $0.uploaded() }
                case .answered(let delivery, let answer, let uploads):
                    underway -= 1
                    for upload in uploads { count.addUpload(upload) }
                    let instant = clock.now
                    lastAnswer = instant
                    count.end(
                        delivery, answer,
                        deliveryService.withOutbox { $0.answered(delivery, with: answer, at: instant) })
                case .woke: alarm = nil
                case nil: break loop
                }
            }
            group.cancelAll()
        }
        return count.tally(unfinished: deliveryService.withOutbox { $0.waitingRetries }, duration: lastAnswer - start)
    }

    private func turn(
        underway: Int, pace: Pace, deliveryService: DeliveryService, at instant: ContinuousClock.Instant
    ) -> Turn {
        if stop.isOn { deliveryService.withOutbox { $0.stop() } }
        let moment = present()
        if let pending = deliveryService.withOutbox({ $0.takeCommanded(now: moment) }) { return .begin(.new(pending)) }
        guard underway < plan.concurrency else { return .await }
        let soon = instant + Self.patience
        if !stop.isOn {
            if let slot = pace.wait(at: instant) { return .pause(until: min(slot, soon)) }
            if let backlog, !backlog.hasRoom { return .pause(until: soon) }
        }
        return switch deliveryService.withOutbox({ $0.next(at: instant, now: moment) }) {
        case .send(let pending): .begin(.new(pending))
        case .sendAgain(let delivery): .begin(.again(delivery))
        case .wait(let due): .pause(until: min(due, soon))
        case .waitForAnswer: plan.isOpenEnded && !stop.isOn ? .pause(until: soon) : .await
        case .finished: plan.isOpenEnded && !stop.isOn ? .pause(until: soon) : .finished
        }
    }

    /// Makes and signs on all cores what the run will send, by uuid.
    private func presign(_ deliveryService: DeliveryService) async throws -> [UUID: SignedNotification] {
        let moment = present()
        let pending = deliveryService.withOutbox { $0.prepare(now: moment) }
        return try await withThrowingTaskGroup(of: [(UUID, SignedNotification)].self) { group in
            for start in stride(from: 0, to: pending.count, by: Self.portion) {
                group.addTask {
                    guard !stop.isOn else { return [] }
                    return try pending[start..<min(start + Self.portion, pending.count)].map {
                        ($0.event.uuid, try signer.write($0))
                    }
                }
            }
            return try await group.reduce(into: [:]) { signed, portion in
                signed.merge(portion) { first, _ in first }
            }
        }
    }

    private func deliver(_ work: Work, _ presigned: [UUID: SignedNotification]) async throws -> Event {
        switch work {
        case .new(let pending):
            let before = pending.upload == .after ? nil : try await upload(pending)
            if pending.upload == .instead, let before { return .uploaded(before) }
            let notification = try presigned[pending.event.uuid] ?? signer.write(pending)
            try record?.write(.notification(notification.recordedEntry))
            let delivery = NotificationDelivery(notification: notification)
            let answer = try await answer(to: delivery)
            let after = pending.upload == .after ? try await upload(pending) : nil
            return .answered(delivery, answer, uploads: [before, after].compactMap(\.self))
        case .again(let delivery):
            return .answered(delivery, try await answer(to: delivery), uploads: [])
        }
    }

    /// - Returns: nil where the app does not upload this.
    private func upload(_ pending: PendingNotification) async throws -> Answer? {
        guard let moment = pending.upload, let uploadTarget, uploadTarget.takes(pending.event.app.environment),
            let purchase = pending.event.shownPurchase
        else { return nil }
        let sent = now()
        let answer = await uploadTarget.post(try signer.sign(purchase, in: pending.event), of: pending.event)
        try record?.write(
            .upload(
                .init(
                    uuid: pending.event.uuid.uuidString.lowercased(), moment: moment.rawValue,
                    transactionId: purchase.transactionId, at: sent.milliseconds, status: answer.status,
                    failure: answer.failure)))
        return answer
    }

    private func answer(to delivery: NotificationDelivery) async throws -> Answer {
        let sent = historyStore?.begin(delivery, at: now) ?? now()
        let answer = await target.post(delivery.notification.body)
        historyStore?.end(delivery, answer, sentAt: sent)
        try record?.write(
            .attempt(
                .init(
                    uuid: delivery.notification.entry.uuid, attempt: delivery.attempt, at: sent.milliseconds,
                    status: answer.status, failure: answer.failure, isRepetition: delivery.isRepetition)))
        return answer
    }
}

/// Stops a run. Deliveries in progress are still answered and recorded.
package final class StopSwitch: Sendable {
    private let state = Mutex(false)

    package init() {}

    var isOn: Bool { state.withLock { $0 } }

    package func turnOn() { state.withLock { $0 = true } }
}
