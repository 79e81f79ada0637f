import Postgres
import WebhookDelivery

import struct Foundation.Date
import struct Foundation.UUID

/// What a batch of requests changes, computed before it is written. No I/O.
struct SettlementPlan {
    /// Of the endpoints whose health was read: those of which something failed, and those that failed before.
    var health: [UUID: EndpointHealth] = [:]
    private(set) var report = WebhookSettlement.Report()
    /// Places that are still leased as they were claimed, for each lease.
    private var held: [UUID: Set<WebhookQueueStore.Claim.Place>] = [:]
    /// Leases that end, and after how many seconds the next attempt is due.
    private var queue: [(claim: WebhookQueueStore.Claim, delay: Double)] = []
    private var finished: [(claim: WebhookQueueStore.Claim, attempt: WebhookAttempt, state: String, attempts: Int32)] =
        []
    private var logged: [WebhookAttempt] = []
    /// Endpoints that were told that another one is disabled, or are told no longer.
    private var told: [(endpoint: UUID, notice: EndpointHealth.Notice)] = []
    private let moment: Date
    private var generator: any RandomNumberGenerator

    /// - Parameters:
    ///   - moment: by the clock of the database.
    ///   - generator: of the random part of delays.
    init(at moment: Date, using generator: any RandomNumberGenerator) {
        self.moment = moment
        self.generator = generator
    }

    /// Notes that no other sender has got a claim's place since.
    mutating func hold(_ claim: WebhookQueueStore.Claim) { held[claim.lease, default: []].insert(claim.place) }

    /// Ends the lease of a place; what waits there is due at once.
    mutating func release(_ claim: WebhookQueueStore.Claim) { release(claim, after: 0) }

    private mutating func release(_ claim: WebhookQueueStore.Claim, after delay: Double) {
        if isHeld(claim) { queue.append((claim, delay)) }
    }

    private func isHeld(_ claim: WebhookQueueStore.Claim) -> Bool { held[claim.lease]?.contains(claim.place) ?? false }

    /// Adds a request that has ended; in the order in which they ended.
    mutating func add(_ attempt: WebhookAttempt) {
        var wasFailing = false
        if var known = health[attempt.endpoint] {
            wasFailing = known.isFailing
            note(known.apply(attempt, at: moment), attempt.endpoint)
            health[attempt.endpoint] = known
        }
        switch attempt.subject {
        case .notice(let endpoint, let notice):
            if attempt.outcome.fault != nil { logged.append(attempt) }
            if let known = health[endpoint], known.notice == nil { told.append((endpoint, notice)) }
        case .test:
            logged.append(attempt)
            if attempt.outcome.fault == nil { report.activated.append(attempt.endpoint) }
        case .delivery(let claim):
            if attempt.outcome.fault != nil { logged.append(attempt) }
            if isHeld(claim) { add(attempt, claim, isCounted: !wasFailing) }
        }
    }

    private mutating func note(_ effect: EndpointHealth.Effect, _ endpoint: UUID) {
        switch effect {
        case .none: break
        case .recovered: report.recovered.append(endpoint)
        case .disabled(let reason): report.disabled[endpoint] = reason
        }
    }

    /// - Parameter isCounted: false for a request to an endpoint that was failing before: it uses up no attempt.
    private mutating func add(_ attempt: WebhookAttempt, _ claim: WebhookQueueStore.Claim, isCounted: Bool) {
        guard let delivery = claim.delivery else { return release(claim) }
        switch attempt.outcome {
        case .delivered:
            finished.append((claim, attempt, "delivered", delivery.attempts + 1))
            release(claim)
        case .gone, .throttled:
            finished.append((claim, attempt, "waiting", delivery.attempts))
            release(claim)
        case .erased, .unreadable:
            finished.append((claim, attempt, "given-up", delivery.attempts))
            release(claim)
        case .failed:
            let attempts = delivery.attempts + (isCounted ? 1 : 0)
            if let delay = RetrySchedule.delay(after: max(1, Int(attempts)), using: &generator) {
                finished.append((claim, attempt, "waiting", attempts))
                // A failing endpoint is probed; what was attempted last is attempted again behind the others.
                release(claim, after: isCounted ? delay : 0)
            } else {
                finished.append((claim, attempt, "given-up", attempts))
                report.givenUp[attempt.endpoint, default: 0] += 1
                release(claim)
            }
        }
    }

    /// What is written, in this order.
    /// - Parameter now: for the log.
    mutating func commands(at now: Date) -> [Command] {
        report.health = health
        var commands: [Command] = []
        if !finished.isEmpty { commands.append(finishing(at: now)) }
        if !logged.isEmpty { commands.append(logging()) }
        if !health.isEmpty { commands.append(writingHealth()) }
        if !report.activated.isEmpty { commands.append(Command(WebhookSettlement.activate, report.activated)) }
        // First disabled, so that no endpoint is told of itself; after the health of others was written.
        let disabled = Array(report.disabled.keys)
        if !disabled.isEmpty { commands.append(Command(WebhookSettlement.disable, disabled)) }
        if !told.isEmpty {
            commands.append(
                Command(
                    WebhookSettlement.notifyNext, told.map(\.endpoint), told.map(\.notice.about), told.map(\.notice.at))
            )
        }
        if !disabled.isEmpty { commands.append(Command(WebhookSettlement.notify, disabled, moment)) }
        let places = queue.map(\.claim.place)
        if !queue.isEmpty {
            commands.append(
                Command(
                    WebhookSettlement.remove, places.map(\.endpoint), places.map(\.originalTransactionId),
                    places.map(\.lane), queue.map(\.claim.lease)))
            commands.append(
                Command(
                    WebhookSettlement.release, places.map(\.endpoint), places.map(\.originalTransactionId),
                    places.map(\.lane), queue.map(\.claim.lease), queue.map(\.delay)))
        }
        if !report.recovered.isEmpty {
            commands.append(Command(WebhookEndpointStore.dueAtOnce, report.recovered))
        }
        return commands
    }

    private func finishing(at now: Date) -> Command {
        Command(
            WebhookSettlement.finish, finished.map(\.claim.place.endpoint),
            finished.map { $0.claim.delivery?.sequence ?? 0 }, finished.map { $0.claim.delivery?.replay ?? 0 },
            finished.map { $0.claim.delivery?.day ?? "" }, finished.map(\.state), finished.map(\.attempts),
            finished.map(\.attempt.outcome.status), finished.map(\.attempt.milliseconds), finished.map(\.attempt.at),
            now)
    }

    private func logging() -> Command {
        Command(
            WebhookSettlement.insertAttempts, logged.map(\.endpoint), logged.map(\.claim?.delivery?.sequence),
            logged.map { $0.claim?.delivery?.replay ?? 0 }, logged.map(\.at), logged.map(\.milliseconds),
            logged.map(\.outcome.status), logged.map(\.outcome.fault), logged.map(\.answer))
    }

    private func writingHealth() -> Command {
        let rows = health.sorted { $0.key < $1.key }
        return Command(
            WebhookSettlement.writeHealth, rows.map(\.key), rows.map(\.value.failures), rows.map(\.value.failingSince),
            rows.map(\.value.nextProbeAt), rows.map(\.value.pausedUntil), rows.map(\.value.testRequestedAt),
            rows.map(\.value.disabledAt), rows.map(\.value.disabledBecause?.rawValue), rows.map(\.value.lastFault),
            rows.map(\.value.notice?.about), rows.map(\.value.notice?.at))
    }
}

extension EndpointHealth {
    /// What a request says about the receiver.
    fileprivate mutating func apply(_ attempt: WebhookAttempt, at now: Date) -> Effect {
        // Another test may have been asked for meanwhile.
        if case .test(_, let requestedAt, let isRepeated) = attempt.subject, testRequestedAt == requestedAt,
            attempt.outcome.fault == nil || !isRepeated
        {
            testRequestedAt = nil
        }
        if case .notice(_, let told) = attempt.subject, notice == told, attempt.outcome.fault == nil { notice = nil }
        switch attempt.outcome {
        case .delivered:
            nextProbeAt = now
            return succeeded(at: now)
        case .gone: return gone(at: now)
        case .erased, .unreadable:
            nextProbeAt = now
            return .none
        case .throttled(_, let seconds):
            throttled(for: seconds, at: now)
            return .none
        case .failed(_, let fault):
            // A receiver that refuses a notice may take its changes all the same.
            if case .notice(_, let told) = attempt.subject {
                if notice == told, now.timeIntervalSince(told.at) >= Self.patience { notice = nil }
                nextProbeAt = now.addingTimeInterval(Self.longestProbe)
                return .none
            }
            // Requests that were under way when it began to fail say nothing new: ten of them must not put off the next probe.
            if let claim = attempt.claim, isFailing, !claim.isProbe {
                lastFault = fault
                return .none
            }
            return failed(fault, at: now)
        }
    }
}
