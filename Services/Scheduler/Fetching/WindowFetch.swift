import AppStore
import Chassis
import Contracts
import Kafka
import Pipeline
import Postgres
import ServerAPI
import Storage

import struct Foundation.Date
import struct Foundation.TimeInterval
import struct Foundation.UUID

/// Fetches a claimed window: each page first goes to Kafka, then the progress to the database. A crash repeats a page,
/// which is harmless.
struct WindowFetch: Sendable {
    let claims: WindowClaimStore
    let coverage: CoverageStore
    /// The API client of an app; nil where its key was removed.
    let client: @Sendable (CoverageStore.App) -> AppStoreServerAPI?
    let producer: Producer
    let partitioner: WindowPartitioner
    /// Longer than a call to Apple including its waiting, and the write to Kafka.
    let leaseSeconds: Int64
    /// Seconds from the end of a day until Apple has recorded its last attempts.
    let sweepDelay: TimeInterval
    let clocks: ClockCheck
    /// Not ahead of Apple's clock once Apple has answered.
    let now: @Sendable () -> Date
    let newId: @Sendable () -> UUID
    let logger: Logger

    /// How far before the earliest time a start may lie, in seconds: that time goes on while a window waits, and a
    /// window that was cut there would be cut again at every claim. Half of its distance from Apple's limit.
    static let leeway: TimeInterval = 1800

    /// How a claim ended.
    enum End: Equatable {
        case fetched
        case divided(Int)
        /// Another scheduler holds the window.
        case fenced
        /// It continues later.
        case released
        case restarted
        case failed
    }

    func fetch(_ claim: WindowClaim) async throws -> End {
        var claim = claim
        let earliest = claim.scope.environment.earliestHistory(at: now())
        let beginsTooEarly = claim.pageToken == nil && claim.start < earliest.addingTimeInterval(-Self.leeway)
        // What is given up by a clock that is ahead stays given up.
        if claim.scope.to <= earliest || beginsTooEarly { try await clocks.run() }
        guard claim.scope.to > earliest else { return try await giveUp(claim) }
        if claim.partOf == nil, claim.pageToken == nil {
            let subwindows = partitioner.subwindows(
                of: claim.scope, reason: claim.reason, priority: claim.priority, id: newId)
            if !subwindows.isEmpty {
                return try await claims.divide(claim, into: subwindows, at: now())
                    ? .divided(subwindows.count) : .fenced
            }
        }
        if beginsTooEarly {
            // A partly unreachable day can no longer be complete; its rest must not count as the whole.
            if claim.reason == .sweep { return try await giveUp(claim) }
            let advice = HistoryRetention.advice(claim.scope.environment)
            return try await stop(
                claim,
                .restart(from: earliest, isCut: true, because: "earlier notifications are skipped: \(advice)"))
        }
        while true {
            let page: NotificationHistoryPage?
            do {
                page = try await nextPage(of: claim)
            } catch let error as APIError {
                if error.code == .startDateTooFarInPast, claim.reason == .sweep { return try await giveUp(claim) }
                return try await stop(claim, RetryDecision(error, of: claim, now: now()))
            }
            guard let page else {
                try await claims.release(claim)
                return .released
            }
            if let early = RetryDecision(afterEarlyAnswerFor: claim, sweepDelay: sweepDelay, now: now()) {
                return try await stop(claim, early)
            }
            guard try await keep(page, of: &claim) else { return .fenced }
            guard page.hasMore else { return .fetched }
        }
    }

    /// Cancelled by a shutdown, because waiting for Apple's rate limit may take longer than the shutdown's deadline.
    /// - Returns: nil on shutdown.
    private func nextPage(of claim: WindowClaim) async throws -> NotificationHistoryPage? {
        guard !Task.isShuttingDownGracefully else { return nil }
        let app = CoverageStore.App(claim.scope.environment, claim.scope.bundleId)
        guard let client = client(app) else {
            throw APIError.unauthorized(
                "no App Store Server API key for \(app.bundleId); add one to STOREKEEPER_APP_STORE_API_KEYS_FILE")
        }
        let scope = claim.scope
        let request = NotificationHistoryRequest(
            startDate: claim.start, endDate: scope.to,
            notificationType: scope.notificationType.map(NotificationType.init(rawValue:)),
            notificationSubtype: scope.subtype.map(NotificationSubtype.init(rawValue:)),
            onlyFailures: scope.onlyFailures ? true : nil)
        let token = claim.pageToken
        do {
            return try await cancelWhenGracefulShutdown {
                var pages = client.notificationHistory(request, from: token).makeAsyncIterator()
                let page = try await pages.next()
                // Otherwise this page would count as the whole window.
                if let page, page.losesTheRest(after: token) { throw APIError.lostPosition }
                return page
            }
        } catch is CancellationError {
            return nil
        }
    }

    private func keep(_ page: NotificationHistoryPage, of claim: inout WindowClaim) async throws -> Bool {
        let messages = PageMessages(page.items, of: claim, fetchedAt: now())
        try await producer.send(messages.messages.map { ProducerRecord(Topics.historyPages, $0) })
        let fetched = FetchedPage(
            messages: messages.messages.count, items: page.items.count, reachedAt: messages.reachedAt,
            nextToken: page.hasMore ? page.position : nil)
        Metric.historyFetched.counter(claim.reason.rawValue).increment(by: page.items.count)
        return try await claims.advance(&claim, by: fetched, seconds: leaseSeconds, at: now())
    }

    private func stop(_ claim: WindowClaim, _ setback: RetryDecision) async throws -> End {
        let metadata: Logger.Metadata = [
            "window": "\(claim.id)", "app": "\(claim.scope.bundleId)",
            "environment": "\(claim.scope.environment.rawValue)",
        ]
        switch setback {
        case .restart(let start, let pause, let isCut, let reason):
            logger.notice(
                "Window of Apple's history restarts from \(start) in \(pause) s: \(reason)", metadata: metadata)
            try await claims.restart(claim, from: start, notBefore: pause, isCut: isCut, because: reason)
            return .restarted
        case .later(let seconds, let reason):
            logger.warning("Window of Apple's history continues in \(seconds) s: \(reason)", metadata: metadata)
            try await claims.release(claim, notBefore: seconds, because: reason)
            return .released
        case .impossible(let reason):
            logger.error("Window of Apple's history cannot be fetched: \(reason)", metadata: metadata)
            try await claims.fail(claim, because: reason, at: now())
            return .failed
        }
    }

    /// Beyond Apple's history.
    private func giveUp(_ claim: WindowClaim) async throws -> End {
        let advice = HistoryRetention.advice(claim.scope.environment)
        if claim.reason == .sweep {
            try await coverage.giveUp(
                claim.scope.environment, claim.scope.bundleId, days: [claim.scope.from.startOfDay],
                window: claim.partOf ?? claim.id, because: advice, at: now())
        }
        return try await stop(claim, .impossible(because: advice))
    }
}
