import AppStore
import Contracts
import Foundation

/// Apple's side of a test: the simulator's App Store Server API on a free port, with a history that the test fills.
final class RunningAppStore: Sendable {
    let historyStore: HistoryStore
    let deliveryService: DeliveryService
    let faults: FaultList
    /// What was told about refund requests.
    let answers: RefundAnswers
    /// The keys that it accepts.
    let keys: KeyRing
    let signer: NotificationSigner
    /// Without the environment's part of the path.
    let url: String

    private init(
        _ historyStore: HistoryStore, _ deliveryService: DeliveryService, _ faults: FaultList, _ answers: RefundAnswers,
        _ keys: KeyRing, _ signer: NotificationSigner, port: Int
    ) {
        self.historyStore = historyStore
        self.deliveryService = deliveryService
        self.faults = faults
        self.answers = answers
        self.keys = keys
        self.signer = signer
        url = "http://127.0.0.1:\(port)"
    }

    /// Serves while the body runs.
    /// - Parameters:
    ///   - review: of images and messages.
    ///   - present: up to when purchases have events.
    ///   - now: the clock of its answers; by default the same.
    ///   - timeOfDay: the real time, where `now` is ahead of it.
    ///   - refused: called with the reason for which a token was refused.
    static func with<Value: Sendable>(
        _ apps: [App], keys: [AcceptedKey], signer: NotificationSigner, limitScale: Double = 1000,
        tokenLife: TimeInterval = 3600, keyFiles: KeyFiles? = nil, review: RetentionReview = RetentionReview(),
        present: @escaping @Sendable () -> Date,
        now: (@Sendable () -> Date)? = nil, timeOfDay: (@Sendable () -> Date)? = nil,
        refused: @escaping @Sendable (String) -> Void = { _ in },
        _ body: @Sendable (RunningAppStore) async throws -> Value
    ) async throws -> Value {
        let now = now ?? present
        let (historyStore, faults, keys) = (HistoryStore(limit: 10_000), FaultList(), KeyRing(keys))
        let answers = RefundAnswers()
        let deliveryService = DeliveryService(Outbox(plan: Plan(apps: apps, count: 1), now: present()))
        let server = StoreServer(
            api: StoreAPI(
                apps: apps, historyStore: historyStore, deliveryService: deliveryService, signer: signer, keys: keys,
                limits: RateLimits(scale: limitScale), faults: faults, answers: answers,
                retention: RetentionMessageContents(review: review), tokenLife: tokenLife,
                present: present,
                now: now, timeOfDay: timeOfDay ?? now, refused: refused),
            control: ServerControl(
                historyStore: historyStore, deliveryService: deliveryService, keys: keys, keyFiles: keyFiles,
                faults: faults,
                purchases: PurchaseControl(
                    apps: apps, catalogue: Catalogue(), historyStore: historyStore, deliveryService: deliveryService,
                    signer: signer, keys: keys, present: present, now: now, clock: nil),
                now: now))
        return try await server.answering(on: "127.0.0.1", port: 0) { port in
            try await body(RunningAppStore(historyStore, deliveryService, faults, answers, keys, signer, port: port))
        }
    }

    /// An event happened, and Apple sent a notification of it.
    /// - Parameter answers: of the attempts, each an hour after the one before.
    @discardableResult
    func send(
        _ event: EventPayload, at date: Date, answers: [Answer] = [.accepted]
    ) throws -> SignedNotification {
        let notification = try signer.write(PendingNotification(event: event))
        historyStore.note(event)
        let first = historyStore.begin(NotificationDelivery(notification: notification), at: { date })
        for (index, answer) in answers.enumerated() {
            historyStore.end(
                NotificationDelivery(notification: notification, attempt: index + 1), answer,
                sentAt: first.adding(3600 * Double(index)))
        }
        return notification
    }
}

extension Answer {
    static let accepted = Answer(status: 200, duration: .milliseconds(1))
    static let unavailable = Answer(status: 503, duration: .milliseconds(1))
}
