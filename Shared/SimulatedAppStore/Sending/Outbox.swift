import struct Foundation.Date
import struct Foundation.UUID

/// Decides what is sent next, and when: pure, without a clock, a network or a signature.
///
/// Five queues: purchases by command, ordered by the API, due retries, repetitions, new notifications.
struct Outbox: Sendable {
    typealias Instant = ContinuousClock.Instant

    enum Step: Sendable {
        case send(PendingNotification)
        case sendAgain(NotificationDelivery)
        /// Nothing until then; an answer may bring something earlier.
        case wait(until: Instant)
        /// Nothing until an answer comes.
        case waitForAnswer
        case finished
    }

    /// The consequence of an answer.
    enum Consequence: Sendable, Equatable {
        case accepted
        case retried(at: Instant)
        case givenUp
    }

    private let plan: Plan
    private var population: Population
    private var random: SeededRandom
    private var uploadRandom: SeededRandom
    private var shuffled: [PendingNotification] = []
    /// Made ahead, the next one last.
    private var prepared: [PendingNotification] = []
    private var ordered = PendingQueue()
    /// Of purchases by command: one after the other, so that they arrive in their order.
    private var commanded = PendingQueue()
    /// The uuid of the one that was taken and not answered yet.
    private var commandedUnderway: String?
    /// Notifications of purchases by command that were answered, whatever the answer.
    private(set) var sentOfCommands = 0
    private var made = 0
    private var repetitions: [NotificationDelivery] = []
    private var retries = RetryQueue()
    private var underway = 0
    private var isStopped = false

    init(plan: Plan, now: Date) {
        self.plan = plan
        let apps = plan.apps.filter { !plan.catalogue.isOwn($0) }
        population = Population(
            apps: apps.isEmpty ? plan.apps : apps, size: plan.subscriptions, conditions: plan.conditions, mix: plan.mix,
            seed: plan.seed,
            now: now)
        // A separate stream: repeating and reordering do not change the purchases.
        random = SeededRandom(seed: ~plan.seed)
        uploadRandom = SeededRandom(seed: plan.seed &+ 0x9E37_79B9_7F4A_7C15)
    }

    /// Retries not yet due or not yet sent.
    var waitingRetries: Int { retries.count }

    /// Whether everything was sent and answered.
    var isFinished: Bool {
        underway == 0 && ordered.isEmpty && commanded.isEmpty && retries.count == 0 && repetitions.isEmpty
            && shuffled.isEmpty
            && prepared.isEmpty && plan.count > 0 && made >= plan.count
    }

    /// Makes everything new of a counted run now.
    /// - Returns: what ``next(at:now:)`` will give out, in its order.
    mutating func prepare(now: Date) -> [PendingNotification] {
        guard plan.count > 0 else { return [] }
        var all: [PendingNotification] = []
        while let pending = pending(now: now) { all.append(pending) }
        prepared = all.reversed()
        return all
    }

    /// Sends something before everything that waits.
    mutating func post(_ event: EventPayload) { ordered.add(PendingNotification(event: event)) }

    /// Extends active subscriptions and sends their notifications; see ``Population/extend(_:byDays:now:)``.
    mutating func extend(_ subscriptions: [EventPayload], byDays days: Int, now: Date) -> [EventPayload?] {
        let events = population.extend(subscriptions, byDays: days, now: now)
        for case let event? in events { post(event) }
        return events
    }

    /// Lets an event happen to one purchase, and sends its notification; see ``Population/apply(_:to:now:)``.
    mutating func apply(_ event: LifecycleEvent, to originalTransactionId: String, now: Date) -> EventPayload? {
        let payload = population.apply(event, to: originalTransactionId, now: now)
        if let payload { post(payload) }
        return payload
    }

    /// Does what a developer asks for by Advanced Commerce, and sends its notification; see
    /// ``Population/apply(_:to:of:now:)``.
    mutating func apply(
        _ request: CommerceRequest, to purchase: Purchase, of newest: EventPayload, now: Date
    ) -> EventPayload? {
        let payload = population.apply(request, to: purchase, of: newest, now: now)
        if let payload { post(payload) }
        return payload
    }

    /// Sends notifications that change nothing; see ``Population/announce(_:about:)``.
    mutating func announce(_ kind: NotificationKind, about subscriptions: [EventPayload]) {
        for event in population.announce(kind, about: subscriptions) { post(event) }
    }

    /// Sets the account of a purchase from now on.
    mutating func assign(_ appAccountToken: UUID, to originalTransactionId: String) {
        population.assign(appAccountToken, to: originalTransactionId)
    }

    /// Notes consumption information of the developer: Apple does not ask again.
    mutating func answerConsumptionRequest(of transactionId: String, originalTransactionId: String, at now: Date) {
        population.answerConsumptionRequest(
            of: transactionId, originalTransactionId: originalTransactionId, at: now)
    }

    /// The purchases by command.
    var manualPurchases: ManualPurchases { population.manual }

    /// A customer buys by command; see ``ManualPurchases/buy(_:for:with:offerCode:timeScale:at:)``.
    mutating func buy(
        _ product: Product, for buyer: ManualPurchases.Buyer, with offer: SignedOffer? = nil, offerCode: String? = nil,
        at date: Date
    ) throws -> EventPayload {
        bringTimeUpTo(date)
        let event = try population.manual.buy(
            product, for: buyer, with: offer, offerCode: offerCode,
            timeScale: population.timeScale(in: buyer.app.environment), at: date)
        commanded.add(PendingNotification(event: event))
        return event
    }

    /// An event of a purchase by command; see ``ManualPurchases/trigger(_:subtype:purchase:product:offerCode:at:)``.
    mutating func trigger(
        _ type: String, subtype: String?, purchase id: String, product: Product?, offerCode: String? = nil,
        at date: Date
    ) throws -> EventPayload {
        bringTimeUpTo(date)
        let event = try population.manual.trigger(
            type, subtype: subtype, purchase: id, product: product, offerCode: offerCode, at: date)
        commanded.add(PendingNotification(event: event))
        return event
    }

    /// Notifications of purchases by command that wait or are not answered yet.
    var waitingOfCommands: Int { commanded.count + (commandedUnderway == nil ? 0 : 1) }

    /// Lets everything happen to purchases by command that time brings.
    mutating func bringTimeUpTo(_ date: Date) {
        while let event = population.manual.next(now: date) { commanded.add(PendingNotification(event: event)) }
    }

    /// Takes what is next of purchases by command, which waits for no rate and no backlog; nil while there is nothing, or while
    /// the one before is not answered.
    mutating func takeCommanded(now: Date) -> PendingNotification? {
        guard !isStopped else { return nil }
        bringTimeUpTo(now)
        guard commandedUnderway == nil, let pending = commanded.take() else { return nil }
        commandedUnderway = pending.event.uuid.uuidString.lowercased()
        underway += 1
        return pending
    }

    /// An id for an event that is about no purchase.
    mutating func uuid() -> UUID { population.uuid() }

    /// Takes what is next. The caller reports its result to ``answered(_:with:at:)``.
    mutating func next(at instant: Instant, now: Date) -> Step {
        guard !isStopped else { return underway > 0 ? .waitForAnswer : .finished }
        if let pending = ordered.take() { return take(.send(pending)) }
        if let delivery = retries.take(dueAt: instant) { return take(.sendAgain(delivery)) }
        if let delivery = repetitions.popLast() { return take(.sendAgain(delivery)) }
        if retries.count < plan.retryLimit, let pending = pending(now: now) { return take(.send(pending)) }
        if let due = retries.earliest { return .wait(until: due) }
        return underway > 0 ? .waitForAnswer : .finished
    }

    /// Notes the result of a delivery.
    mutating func answered(_ delivery: NotificationDelivery, with answer: Answer, at instant: Instant) -> Consequence {
        underway -= 1
        if delivery.attempt == 1, delivery.notification.entry.uuid == commandedUnderway {
            commandedUnderway = nil
            sentOfCommands += 1
        }
        if answer.isAccepted {
            if delivery.notification.isToBeRepeated, !delivery.isRepetition {
                var copy = delivery
                copy.isRepetition = true
                repetitions.append(copy)
            }
            return .accepted
        }
        let delay = plan.retries.delay(
            after: delivery.attempt, status: answer.status, in: delivery.notification.entry.environment)
        guard !delivery.isRepetition, let delay else { return .givenUp }
        var again = delivery
        again.attempt += 1
        retries.add(again, due: instant + delay)
        return .retried(at: instant + delay)
    }

    /// Notes that what was taken is uploaded and never sent.
    mutating func uploaded() { underway -= 1 }

    /// Takes nothing more; answers are still outstanding.
    mutating func stop() { isStopped = true }

    private mutating func take(_ step: Step) -> Step {
        underway += 1
        return step
    }

    /// Any notification of the reorder window.
    private mutating func pending(now: Date) -> PendingNotification? {
        guard plan.hasRandomPurchases else { return nil }
        if let pending = prepared.popLast() { return pending }
        while shuffled.count <= plan.reorderWindow, plan.count == 0 || made < plan.count {
            made += 1
            shuffled.append(makePending(now: now))
        }
        guard !shuffled.isEmpty else { return nil }
        let index = random.index(below: shuffled.count)
        shuffled.swapAt(index, shuffled.count - 1)
        return shuffled.popLast()
    }

    private mutating func makePending(now: Date) -> PendingNotification {
        let isForged = random.chance(plan.invalidShare)
        let kind = random.element(of: InvalidVariant.allCases)
        let isToBeRepeated = random.chance(plan.repeatedShare)
        guard isForged else {
            let event = population.next(now: now)
            return PendingNotification(
                event: event, isToBeRepeated: isToBeRepeated,
                upload: plan.uploads?.moment(for: event, using: &uploadRandom))
        }
        let event = population.counterfeit(now: now)
        return PendingNotification(
            event: event, invalidVariant: kind.applies(to: event) ? kind : .tampered, isToBeRepeated: isToBeRepeated)
    }
}
