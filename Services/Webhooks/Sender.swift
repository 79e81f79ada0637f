import Chassis
import Pipeline
import Postgres
import Storage
import WebhookDelivery

import struct Foundation.Date
import struct Foundation.UUID

/// Sends what waits: settles what has ended, leases what is due, and sends it, with so many requests at a time as ``Places`` allows.
///
/// One loop decides; requests run beside it. Where Postgres is away, nothing more is sent, and what has ended is settled later: a
/// process that is killed before that repeats it, with the same id.
actor Sender: Service {
    /// How long the loop waits where nothing happens: what other processes enqueued, and what an operator changed, is seen then.
    static let idle: Duration = .milliseconds(500)
    /// The number of times that arrived notifications are taken before anything else is sent: after an outage they may be many.
    private static let arrivalsInTurn = 10
    /// Seconds that a delivery which was leased ahead may wait for its place; then it is given back. Short, because it says what
    /// was stored when it was leased: an account that is erased meanwhile must not be named later.
    static let aheadSeconds = 0.1

    private let endpoints: WebhookEndpointStore
    private let queue: WebhookQueueStore
    private let settlement: WebhookSettlement
    private let secrets: WebhookSecrets
    private let settings: ConnectionSettings
    private let resolver: any Resolver
    private let now: @Sendable () -> Date
    /// Seconds by which the database's clock was ahead at the last look at the endpoints.
    private var lead: Double = 0
    private let clock: any Clock<Duration>
    private let logger: Logger

    private var known: [UUID: WebhookEndpointStore.Entry] = [:]
    private var connections: [UUID: EndpointConnection] = [:]
    private var measures: [UUID: EndpointMeasures] = [:]
    private let changeToWebhook = Metric.changeToWebhook.timer()
    private var places: Places
    private var finished: [WebhookAttempt] = []
    /// Endpoints of which a failure is yet to be stored.
    private var unsettled: Set<UUID> = []
    private var empty: [WebhookQueueStore.Claim] = []
    /// Leased deliveries that wait for a place, the oldest first.
    private var ahead: [(claim: WebhookQueueStore.Claim, delivery: WebhookQueueStore.Delivery, at: Date)] = []
    /// Requests that have ended since the last look for more.
    private var ended = 0
    private var inFlight = 0
    /// Endpoints with a test, or a notice, under way.
    private var asked: Set<UUID> = []
    private var refreshAt: ContinuousClock.Instant = .now
    private var isWoken = false
    private var waiter: CheckedContinuation<Void, Never>?

    /// - Parameters:
    ///   - connection: of its own, so that sending does not wait for other work.
    ///   - settling: another one, on which what has ended is stored while the next deliveries are leased.
    ///   - resolver: of receivers' names.
    ///   - clock: waits where nothing happens.
    init(
        _ connection: PostgresConnection, settling: PostgresConnection, secrets: WebhookSecrets,
        _ settings: ConnectionSettings,
        resolver: any Resolver = SystemResolver(), places: Places = Places(), now: @escaping @Sendable () -> Date,
        clock: any Clock<Duration> = ContinuousClock(), logger: Logger
    ) {
        endpoints = WebhookEndpointStore(connection)
        queue = WebhookQueueStore(connection)
        settlement = WebhookSettlement(settling)
        self.secrets = secrets
        self.settings = settings
        self.resolver = resolver
        self.places = places
        self.now = now
        self.clock = clock
        self.logger = logger
    }

    /// Sends until the process shuts down, and then settles what is under way.
    func run() async throws {
        await RetryLoop(clock: clock) { [logger] error in
            logger.warning("Could not send webhooks; retrying", metadata: ["error": "\(error)"])
        }.run { [self] _ in
            if try await turn() == 0 { await pause() }
            return .zero
        }
        giveBack { _ in true }
        // Another process may have room for it before the last answers come; where it cannot be stored, it is tried once more.
        try? await settle()
        while inFlight > 0, !Task.isCancelled { await pause() }
        do {
            try await settle()
        } catch {
            logger.warning("Could not store what webhooks came to; they are repeated", metadata: ["error": "\(error)"])
        }
        for connection in connections.values { await connection.close() }
    }

    /// Something was enqueued, or a request has ended.
    func wake() {
        isWoken = true
        waiter?.resume()
        waiter = nil
    }

    /// One round: look at the endpoints where that is due, and send, while what has ended is settled.
    /// - Returns: how many requests were begun.
    func turn() async throws -> Int {
        if refreshAt <= .now { try await refresh() }
        async let settled: Void = settle()
        let begun = try await send()
        try await settled
        return begun
    }

    /// One turn, and where nothing more can be sent, the wait for the end of a request.
    /// - Returns: false where nothing was begun and nothing is under way.
    func round() async throws -> Bool {
        let begun = try await turn()
        guard begun > 0 || inFlight > 0 || !finished.isEmpty || isWoken else { return false }
        if begun == 0 { await pause() }
        return true
    }

    /// Waits until ``wake()``, at most until what was leased ahead is given back.
    private func pause() async {
        if !isWoken {
            let limit: Duration = ahead.isEmpty ? Self.idle : .seconds(Self.aheadSeconds)
            let timer = Task { [clock] in
                try? await clock.sleep(for: limit)
                if !Task.isCancelled { wake() }
            }
            await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    if Task.isCancelled { continuation.resume() } else { waiter = continuation }
                }
            } onCancel: {
                Task { await self.wake() }
            }
            timer.cancel()
        }
        isWoken = false
    }

    /// Reads the endpoints, which operators and other processes change, and enqueues the notifications that have arrived for those of
    /// kind apple.
    func refresh() async throws {
        let askedAt = now()
        let entries = try await endpoints.all()
        if let readAt = entries.first?.readAt { lead = readAt.timeIntervalSince(askedAt) }
        known = Dictionary(uniqueKeysWithValues: entries.map { ($0.endpoint.id, $0) })
        places.keep(Set(known.keys))
        measures = measures.filter { known[$0.key] != nil }
        for (id, connection) in connections where known[id] == nil {
            connections[id] = nil
            await connection.close()
        }
        for _ in 0..<Self.arrivalsInTurn {
            guard try await queue.takeArrivals(at: now()) == WebhookQueueStore.arrivals else { break }
        }
        refreshAt = .now + Self.idle
    }

    // MARK: What has ended

    private func settle() async throws {
        let (attempts, empty) = (finished, self.empty)
        guard !attempts.isEmpty || !empty.isEmpty else { return }
        (finished, self.empty) = ([], [])
        let report: WebhookSettlement.Report
        do {
            report = try await settlement.settle(attempts, empty: empty, at: now())
        } catch {
            finished = attempts + finished
            self.empty = empty + self.empty
            throw error
        }
        for attempt in attempts {
            if attempt.outcome.fault != nil {
                places.release(of: attempt.endpoint, hasSucceeded: attempt.outcome.isOfReceiver ? false : nil)
            }
            count(attempt)
        }
        unsettled = Set(
            finished.lazy.filter { $0.outcome.isOfReceiver && $0.outcome.fault != nil }.map(\.endpoint))
        // Deliveries behind these are due now.
        isWoken = true
        for (id, health) in report.health { known[id]?.health = health }
        for id in report.activated where known[id]?.endpoint.state == .testing {
            known[id]?.endpoint.state = .active
            logger.notice("Endpoint answered its test; changes are sent to it", metadata: ["endpoint": "\(name(id))"])
        }
        for (id, reason) in report.disabled {
            known[id]?.endpoint.state = .disabled
            logger.error(
                "Endpoint disabled: storekeeper webhooks resume sends what waits",
                metadata: ["endpoint": "\(name(id))", "because": "\(reason.rawValue)"])
        }
        for (id, count) in report.givenUp {
            Metric.webhooksGivenUp.counter(name(id)).increment(by: count)
            logger.warning(
                "Deliveries given up after all attempts: storekeeper webhooks replay sends them again",
                metadata: ["endpoint": "\(name(id))", "count": "\(count)"])
        }
    }

    private func count(_ attempt: WebhookAttempt) {
        let outcome: String? =
            switch attempt.outcome {
            case .delivered: "delivered"
            case .gone: "gone"
            case .throttled: "throttled"
            case .failed(let status, _): status == nil ? "unanswered" : "failed"
            case .erased, .unreadable: nil
            }
        guard let outcome else { return }
        let measures = measures(of: attempt.endpoint)
        if outcome == "delivered" {
            measures.delivered.increment()
        } else {
            Metric.webhookRequests.counter(measures.name, outcome).increment()
        }
        measures.places.record(places.used(by: attempt.endpoint))
        guard case .delivery(let claim) = attempt.subject, let delivery = claim.delivery, delivery.replay == 0,
            case .delivered = attempt.outcome, let message = delivery.message
        else { return }
        changeToWebhook.recordSeconds(now().timeIntervalSince(message.appliedAt))
    }

    // MARK: What is sent

    /// The time by the clock of the database, which probes and pauses follow, and which other senders share.
    private var moment: Date { now().addingTimeInterval(lead) }

    private func send() async throws -> Int {
        let (askedAt, moment) = (now(), self.moment)
        let begun = sendAhead()
        var (tests, notices) = ([UUID](), [UUID]())
        var (probes, open) = ([UUID](), [(id: UUID, isFailing: Bool)]())
        for (id, entry) in known.sorted(by: { $0.key < $1.key }) {
            let health = entry.health
            // One that answers may be busy for hours: its test and its notice wait for no quiet moment.
            let isFree = places.used(by: id) == 0 || entry.endpoint.state == .active && !health.isFailing
            let isDue = health.nextProbeAt <= moment && isFree && !asked.contains(id)
            if health.testRequestedAt != nil, isDue, entry.endpoint.state != .disabled {
                tests.append(id)
            } else if health.notice != nil, !health.isFailing, isDue, entry.endpoint.state == .active,
                !health.isPaused(at: moment)
            {
                notices.append(id)
            } else if entry.endpoint.state == .active, !health.isPaused(at: moment) {
                if !health.isFailing { open.append((id, false)) } else if isDue { probes.append(id) }
            }
        }
        // Before probes are taken: the next turn of one without a place would come after a whole lease.
        // The number leased ahead is that of the places that became free while the last ones were leased, so none waits long for slow receivers.
        var offers = places.offers(to: open + probes.map { ($0, true) }, of: active, ahead: ended)
        ended = 0
        let taken = try await queue.takeProbes(tests + notices + probes.filter { offers[$0] != nil })
        for id in taken {
            known[id]?.health.nextProbeAt = moment.addingTimeInterval(WebhookQueueStore.leaseSeconds)
        }
        for id in tests where taken.contains(id) { test(id) }
        for id in notices where taken.contains(id) { notify(id) }
        for id in probes where !taken.contains(id) { offers[id] = nil }
        let claims = try await queue.claim(offers, probes: Set(probes), lease: UUID())
        // What Postgres took so long to lend could be sent by another process before this request arrives: it is given back.
        let isLate = now().timeIntervalSince(askedAt) >= WebhookQueueStore.leaseSeconds / 2
        for claim in claims {
            guard let delivery = claim.delivery, !isLate, mayBeSent(claim, at: moment) else {
                empty.append(claim)
                continue
            }
            if places.hasRoom(for: claim.place.endpoint, of: active) {
                send(claim, delivery)
            } else {
                places.hold(for: claim.place.endpoint)
                ahead.append((claim, delivery, now()))
            }
        }
        return begun + claims.count + (tests + notices).count { taken.contains($0) }
    }

    private var active: Int { known.count { $0.value.endpoint.state == .active } }

    /// Sends what was leased ahead, as far as there is room, and gives back what may not be sent, or has waited for too long.
    /// - Returns: how many were begun.
    private func sendAhead() -> Int {
        guard !ahead.isEmpty else { return 0 }
        let (held, time, moment, active) = (ahead, now(), self.moment, self.active)
        ahead = []
        var begun = 0
        for each in held {
            let endpoint = each.claim.place.endpoint
            if time.timeIntervalSince(each.at) >= Self.aheadSeconds || !mayBeSent(each.claim, at: moment) {
                places.unhold(for: endpoint)
                empty.append(each.claim)
            } else if places.hasRoom(for: endpoint, of: active) {
                places.unhold(for: endpoint)
                send(each.claim, each.delivery)
                begun += 1
            } else {
                ahead.append(each)
            }
        }
        return begun
    }

    /// True where its endpoint still gets it: an operator or its answers may have stopped it since the lease, and a failure that is yet to
    /// be stored may stop it.
    private func mayBeSent(_ claim: WebhookQueueStore.Claim, at moment: Date) -> Bool {
        guard let entry = known[claim.place.endpoint], entry.endpoint.state == .active,
            !entry.health.isPaused(at: moment), !unsettled.contains(claim.place.endpoint)
        else { return false }
        return claim.isProbe || !entry.health.isFailing
    }

    /// Ends leases of what was not begun: it is due at once when that is stored.
    private func giveBack(_ isGiven: (UUID) -> Bool) {
        for each in ahead where isGiven(each.claim.place.endpoint) {
            places.unhold(for: each.claim.place.endpoint)
            empty.append(each.claim)
        }
        ahead.removeAll { isGiven($0.claim.place.endpoint) }
    }

    private func send(_ claim: WebhookQueueStore.Claim, _ delivery: WebhookQueueStore.Delivery) {
        switch delivery.content {
        case .change(let message):
            start(.delivery(claim), body: { WebhookBody.of(message) }, id: message.id, of: delivery)
        case .relay(let uuid, let signedPayload?):
            start(.delivery(claim), body: { WebhookBody.relay(of: signedPayload) }, id: name(uuid), of: delivery)
        case .relay(_, nil):
            finish(claim, .erased)
        case .unreadable(let uuid, let fault):
            logger.error(
                "Stored notification cannot be read; it is given up, and its purchase goes on",
                metadata: [
                    "endpoint": "\(name(claim.place.endpoint))", "notificationUUID": "\(name(uuid))",
                    "error": "\(fault)",
                ])
            Metric.webhooksGivenUp.counter(name(claim.place.endpoint)).increment()
            finish(claim, .unreadable(fault: fault))
        }
    }

    /// Ends a delivery for which there is nothing to send.
    private func finish(_ claim: WebhookQueueStore.Claim, _ outcome: AttemptOutcome) {
        places.take(1, for: claim.place.endpoint)
        finished.append(WebhookAttempt(.delivery(claim), outcome, at: now()))
    }

    private func test(_ id: UUID) {
        guard let entry = known[id], let requestedAt = entry.health.testRequestedAt else { return }
        let environment = entry.endpoint.environment
        start(
            .test(endpoint: id, requestedAt: requestedAt, isRepeated: entry.endpoint.state == .testing),
            body: { WebhookBody.test(of: id, in: environment, requestedAt: requestedAt) },
            id: WebhookBody.testId(of: id, requestedAt: requestedAt), of: nil)
    }

    private func notify(_ id: UUID) {
        guard let entry = known[id], let notice = entry.health.notice else { return }
        let environment = entry.endpoint.environment
        start(
            .notice(endpoint: id, notice), body: { WebhookBody.disabled(notice, in: environment) },
            id: WebhookBody.disabledId(notice), of: nil)
    }

    private func start(
        _ subject: WebhookAttempt.Subject, body: @escaping @Sendable () -> [UInt8], id: String,
        of delivery: WebhookQueueStore.Delivery?
    ) {
        let draft = WebhookAttempt(subject, .failed(status: nil, fault: "the endpoint was removed"), at: now())
        let endpoint = draft.endpoint
        places.take(1, for: endpoint)
        inFlight += 1
        if delivery == nil { asked.insert(endpoint) }
        guard let entry = known[endpoint] else { return end(draft) }
        // Also here: at the end of a request that a receiver held for long, its place is free again.
        measures(of: endpoint).places.record(places.used(by: endpoint))
        let connection =
            connections[endpoint] ?? EndpointConnection(to: entry.endpoint.url, settings, resolver: resolver)
        connections[endpoint] = connection
        // Beside the loop: bodies and signatures of a batch would be made one after the other, and the loop would wait for them.
        Task.detached { [self, secrets, now] in
            let (at, began, bytes) = (now(), ContinuousClock.now, body())
            var headers = secrets.headers(of: bytes, id: id, for: entry.endpoint, at: at)
            headers.append(("content-type", "application/json"))
            headers.append(("user-agent", "Storekeeper/\(BuildInformation.version)"))
            if let delivery {
                if delivery.replay > 0 { headers.append(("storekeeper-replay", "true")) }
                if delivery.message != nil { headers.append(("storekeeper-cursor", String(delivery.sequence))) }
            }
            let (outcome, answer) = await connection.send(bytes, headers: headers, now: now())
            var attempt = draft
            (attempt.outcome, attempt.at) = (outcome, at)
            // A success is stored without its answer. A receiver may send back what it got, and what Apple signed names the account in
            // too many ways to find all of them.
            let isKept = delivery.map { $0.message != nil && outcome.fault != nil } ?? true
            if isKept {
                let signatures = headers.filter { $0.name == "webhook-signature" }.map(\.value)
                let account = delivery?.message?.appAccountToken
                attempt.answer = AnswerExcerpt.text(answer, without: signatures + [account].compactMap { $0 })
            }
            attempt.milliseconds = Int32(clamping: Int64(began.duration(to: .now) / .milliseconds(1)))
            await end(attempt)
        }
    }

    private func end(_ attempt: WebhookAttempt) {
        inFlight -= 1
        ended += 1
        // The place of one that failed is free once that is stored, and so known to decide what its endpoint gets next.
        if attempt.outcome.fault == nil {
            places.release(of: attempt.endpoint, hasSucceeded: true)
            measures(of: attempt.endpoint).places.record(places.used(by: attempt.endpoint))
        }
        if case .delivery = attempt.subject {} else { asked.remove(attempt.endpoint) }
        finished.append(attempt)
        if attempt.outcome.fault == nil {
            _ = sendAhead()
        } else {
            // Its next delivery is decided when this is stored.
            unsettled.insert(attempt.endpoint)
            giveBack { $0 == attempt.endpoint }
        }
        wake()
    }

    /// The metrics of an endpoint, looked up once.
    private struct EndpointMeasures {
        let name: String
        let delivered: Counter
        let places: Gauge

        init(of name: String) {
            self.name = name
            delivered = Metric.webhookRequests.counter(name, "delivered")
            places = Metric.webhookPlaces.gauge(name)
        }
    }

    private func measures(of endpoint: UUID) -> EndpointMeasures {
        if let known = measures[endpoint] { return known }
        let made = EndpointMeasures(of: name(endpoint))
        measures[endpoint] = made
        return made
    }

    /// The name of an endpoint, or a notification, in metrics and logs.
    private func name(_ id: UUID) -> String { id.uuidString.lowercased() }
}
