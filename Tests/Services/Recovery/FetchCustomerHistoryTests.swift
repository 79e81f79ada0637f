import Contracts
import Foundation
import Kafka
import Pipeline
import Storage
import Subscriptions
import Testing

@testable import AppStore
@testable import Recovery
@testable import Simulator

@Suite(.serialized, .timeLimit(.minutes(3))) struct FetchCustomerHistoryTests {
    /// The life of one customer, event by event.
    struct Subscriber {
        private var identities = Identities(seed: 7, now: RecoveryFixture.now)
        private var life: SimulatedPurchase
        private(set) var purchase = ""

        init() {
            var random = SeededRandom(seed: 7)
            let customer = Customer(of: RecoveryFixture.apple, random: &random, identities: &identities)
            life = SimulatedPurchase(
                of: customer, timeScale: TimeScale(environment: .production, scale: 1),
                beginning: RecoveryFixture.now.addingTimeInterval(-100 * 86_400))
        }

        /// What Apple tells when it happens, which is as soon as it can.
        mutating func apply(_ event: LifecycleEvent) throws -> EventPayload {
            let soon = life.now.addingTimeInterval(3600)
            let date = event.waitsForExpiry ? max(life.purchase?.expiresDate ?? soon, soon) : soon
            let payload = try #require(
                life.apply(event, at: date, product: Product.subscriptions[1], identities: &identities))
            purchase = payload.purchase?.originalTransactionId ?? purchase
            return payload
        }
    }

    /// A customer of whom Apple sent all that happened, an hour ago.
    static func subscriber(_ events: [LifecycleEvent], at fixture: RecoveryFixture) throws -> Subscriber {
        var subscriber = Subscriber()
        for event in events {
            try fixture.happen(subscriber.apply(event), sentAt: RecoveryFixture.now.addingTimeInterval(-3600))
        }
        return subscriber
    }

    static func history(_ fixture: RecoveryFixture, _ purchase: String) async throws -> CustomerHistory {
        let result = try await fixture.ask.process([RecoveryFixture.delivery(RecoveryFixture.request(purchase))])[0]
        guard case .forward(.answered(let history)) = result else {
            throw RecoveryFixture.Rejected(result: "\(result)")
        }
        return history
    }

    @Test func `FetchCustomerHistory sends what the ledger lacks through the pipeline, once`() async throws {
        try await RecoveryFixture.open { fixture in
            let purchase = try Self.subscriber([.subscribe, .renew, .turnRenewalOff], at: fixture).purchase
            let (first, second) = (RecoveryFixture.request(purchase), RecoveryFixture.request(purchase))
            let answers = RecoveryAnswerStore(fixture.history.connection)
            let key = SubscriptionKey(environment: .production, originalTransactionId: purchase)
            try await whileRunning(try await fixture.services()) {
                try await fixture.history.producer.send([ProducerRecord(Topics.recoveryRequests, first)])
                try await becomes("it is answered") { try await answers.answers(of: key).count == 1 }
                // Two signed objects beside the three; on a slow machine the question may be repeated, and then all of it is.
                let count = Int(try await fixture.history.end(of: Topics.received.name))
                #expect(count >= 5)
                let received = try await fixture.history.read(Topics.received, count: count)
                #expect(received.allSatisfy { $0.source == .history && $0.traceparent != nil })
                try await fixture.runLine(received)
                // Once more, now that all of it is known.
                try await fixture.history.producer.send([ProducerRecord(Topics.recoveryRequests, second)])
                try await becomes("it is answered") { try await answers.answers(of: key).count == 2 }
            }
            let answered = try await answers.answers(of: key)
            let before = try #require(answered.first { $0.before == first.before })
            #expect(before.outcome == "answered")
            #expect(before.notifications == 3)
            #expect(before.missing == 3)
            #expect(before.signedObjects > 0)
            let after = try #require(answered.first { $0.before == second.before })
            #expect(after.missing == 0)
            #expect(after.signedObjects == 0)
            #expect(after.revision != nil)
            let subscription = try #require(try await fixture.subscription(purchase))
            #expect(subscription.transaction?.transactionId != purchase)
            #expect(subscription.renewal?.autoRenewStatus == false)
        }
    }

    @Test func `a refund of which no notification is left comes again in the transaction history`() async throws {
        try await RecoveryFixture.open { fixture in
            var subscriber = try Self.subscriber([.subscribe, .renew], at: fixture)
            let purchase = subscriber.purchase
            let before = try await Self.history(fixture, purchase)
            try await fixture.runLine(before.received(at: RecoveryFixture.now))
            try await RecoveryAnswerStore(fixture.history.connection).record(
                [before.answer(at: RecoveryFixture.now)], attempts: [])
            #expect(try await fixture.subscription(purchase)?.transaction?.revocationDate == nil)
            // Older than Apple's history reaches back.
            try fixture.happen(subscriber.apply(.refund), sentAt: nil)
            let after = try await Self.history(fixture, purchase)
            #expect(after.notifications.allSatisfy { $0.state == .present })
            #expect(!after.signedObjects.isEmpty)
            #expect(after.revision != before.revision)
            try await fixture.runLine(after.received(at: RecoveryFixture.now))
            #expect(try await fixture.subscription(purchase)?.transaction?.revocationDate != nil)
        }
    }

    @Test(arguments: [
        ([LifecycleEvent.subscribe, .renew, .failToRenew], 3, SubscriptionState.billingRetry),
        ([.subscribe, .renew, .failToRenewWithGrace], 4, .gracePeriod),
        ([.subscribe, .renew, .refund], 5, .revoked), ([.subscribe, .renew], 1, .active),
    ])
    func `FetchCustomerHistory restores Apple's status of a customer without notifications`(
        events: [LifecycleEvent], status: Int, state: SubscriptionState
    ) async throws {
        try await RecoveryFixture.open { fixture in
            var subscriber = Subscriber()
            var last: Date?
            for event in events {
                let payload = try subscriber.apply(event)
                last = payload.signedDate
                try fixture.happen(payload, sentAt: nil)
            }
            let purchase = subscriber.purchase
            let history = try await Self.history(fixture, purchase)
            #expect(history.notifications.isEmpty)
            let carriers = history.signedObjects.filter { $0.status != nil }
            #expect(carriers.map(\.status?.status) == [Int64(status)])
            let transactions = history.signedObjects.compactMap(\.transactionId)
            #expect(Set(transactions).count == transactions.count)
            // Over the wire, as between the processes.
            let received = try history.received(at: RecoveryFixture.now).map {
                try ReceivedNotification($0.record())
            }
            try await fixture.runLine(received)
            let subscription = try #require(try await fixture.subscription(purchase))
            #expect(subscription.status == status)
            #expect(subscription.statusVersion?.signedDate ?? .distantPast >= RecoveryFixture.now)
            #expect(subscription.state(at: try #require(last).addingTimeInterval(60)) == state)
            let again = try await Self.history(fixture, purchase)
            #expect(again.signedObjects == [])
        }
    }

    @Test func `FetchCustomerHistory restarts the history after Apple rejects its revision`() async throws {
        try await RecoveryFixture.open { fixture in
            let purchase = try Self.subscriber([.subscribe, .renew], at: fixture).purchase
            let key = SubscriptionKey(environment: .production, originalTransactionId: purchase)
            try await RecoveryAnswerStore(fixture.history.connection).record(
                [
                    RecoveryAnswer(
                        key: key, bundleId: History.app.bundleId, before: UUID(), outcome: "answered",
                        revision: "of another query", answeredAt: RecoveryFixture.now)
                ], attempts: [])
            let history = try await Self.history(fixture, purchase)
            #expect(history.rejections.isEmpty)
            #expect(!history.signedObjects.isEmpty)
        }
    }

    @Test func `what cannot be asked about is put away with its reason`() async throws {
        try await RecoveryFixture.open { fixture in
            var xcode = RecoveryFixture.request("1")
            xcode.environment = .xcode
            let requests = [RecoveryFixture.request("999999999"), xcode]
            let results = try await fixture.ask.process(requests.map(RecoveryFixture.delivery))
            let reasons = results.map { result -> CustomerHistoryReason? in
                guard case .discard(let reason) = result else { return nil }
                return reason
            }
            #expect(reasons == [.notFound, .withoutHistory])
            // Nothing waits for them, and an operator can read why.
            try await whileRunning(try await fixture.services()) {
                let answers = RecoveryAnswerStore(fixture.history.connection)
                try await fixture.history.producer.send(requests.map { ProducerRecord(Topics.recoveryRequests, $0) })
                let key = SubscriptionKey(environment: .production, originalTransactionId: "999999999")
                try await becomes("it is put away") {
                    try await answers.answers(of: key).first?.outcome == CustomerHistoryReason.notFound.rawValue
                }
                #expect(
                    try await answers.answers(of: key).first?.message?.contains("does not know this purchase") == true)
            }
        }
    }

    @Test func `FetchCustomerHistory sends unverifiable objects through the pipeline, which decides about them`()
        async throws
    {
        try await RecoveryFixture.open { fixture in
            let knownState = KnownState(fixture.history.connection)
            let rejection = VerificationFailure(.nestedMismatch, "signed for another app")
            let transaction = SignedItem<JWSTransactionDecodedPayload>(jws: [1], proof: .failure(rejection))
            let renewal = SignedItem<JWSRenewalInfoDecodedPayload>(jws: [2], proof: .failure(rejection))
            let unknownObjects = try await (
                knownState.unknownObjects(in: [transaction], .production),
                knownState.unknownObjects(in: [renewal], .production)
            )
            #expect(unknownObjects.0.map(\.jws) == [[1]] && unknownObjects.1.map(\.jws) == [[2]])
            var history = CustomerHistory(request: RecoveryFixture.request("1"))
            history.signedObjects = unknownObjects.0 + unknownObjects.1
            let received = history.received(at: RecoveryFixture.now)
            #expect(received.allSatisfy { $0.bundleId == History.app.bundleId && $0.source == .history })
        }
    }

    @Test func `an app whose key is rejected holds up no other, and its requests do not vanish`() async throws {
        try await RecoveryFixture.open { fixture in
            let purchase = try Self.subscriber([.subscribe], at: fixture).purchase
            // Of the same key, so both stand in the same partition.
            let rejected = RecoveryFixture.request(purchase, of: RecoveryFixture.rejectedApp)
            let request = RecoveryFixture.request(purchase)
            let answers = RecoveryAnswerStore(fixture.history.connection)
            let postponed = PostponedRequestStore(fixture.history.connection)
            let key = SubscriptionKey(environment: .production, originalTransactionId: purchase)
            try await whileRunning(try await fixture.services()) {
                try await fixture.history.producer.send([ProducerRecord(Topics.recoveryRequests, rejected)])
                try await fixture.history.producer.send([ProducerRecord(Topics.recoveryRequests, request)])
                try await becomes("it is answered") {
                    try await answers.answers(of: key).first?.outcome == "answered"
                }
                try await becomes("the other waits") {
                    try await postponed.waiting().map(\.bundleId) == [RecoveryFixture.rejectedApp]
                }
            }
            let waiting = try await postponed.waiting()
            #expect(waiting.map(\.requests) == [1])
            #expect(waiting.first?.lastError.contains("refuses every key") == true)
            #expect(try await answers.answers(of: key).count == 1)
        }
    }

    @Test func `a request that was postponed is asked again when its time has come`() async throws {
        try await RecoveryFixture.open { fixture in
            let purchase = try Self.subscriber([.subscribe], at: fixture).purchase
            let request = RecoveryFixture.request(purchase)
            let answers = RecoveryAnswerStore(fixture.history.connection)
            let postponed = PostponedRequestStore(fixture.history.connection)
            let key = SubscriptionKey(environment: .production, originalTransactionId: purchase)
            try await answers.record(
                [], attempts: [],
                postponed: [
                    PostponedRequest(
                        request: request, pause: .zero, reason: "a limit", postponedAt: RecoveryFixture.now)
                ])
            try await whileRunning(try await fixture.services()) {
                try await becomes("it is answered") {
                    try await answers.answers(of: key).first?.outcome == "answered"
                }
            }
            #expect(try await answers.answers(of: key).map(\.before) == [request.before])
            #expect(try await postponed.waiting().isEmpty)
        }
    }

    @Test func `CircuitBreaker stops requests for an app's customers while Apple rejects its key`() async throws {
        try await RecoveryFixture.open { fixture in
            let purchase = try Self.subscriber([.subscribe], at: fixture).purchase
            let delivery = RecoveryFixture.delivery(RecoveryFixture.request(purchase))
            let ask = fixture.ask
            fixture.revokeKey()
            guard case .forward(.postponed(_, let pause)) = try await ask.process([delivery])[0] else {
                Issue.record("it was not postponed")
                return
            }
            #expect(pause.length == .seconds(60))
            // Apple would answer again, and no request was sent.
            fixture.acceptKey()
            guard case .forward(.postponed(_, let rest)) = try await ask.process([delivery])[0] else {
                Issue.record("it was asked")
                return
            }
            #expect(rest == pause)
            let result = try await fixture.ask.process([delivery])[0]
            guard case .forward(.answered) = result else {
                Issue.record("it was not answered: \(result)")
                return
            }
        }
    }

    @Test func `a request of an app without a key waits for one, also where there are no keys at all`() async throws {
        try await RecoveryFixture.open { fixture in
            let delivery = RecoveryFixture.delivery(RecoveryFixture.request("1", of: "com.example.other"))
            let connection = fixture.history.connection
            let keyless = FetchCustomerHistory(
                clients: nil, items: RecoveryItemStore(connection), answers: RecoveryAnswerStore(connection),
                knownState: KnownState(connection), now: { RecoveryFixture.now })
            for ask in [fixture.ask, keyless] {
                guard case .forward(.postponed(_, let pause)) = try await ask.process([delivery])[0] else {
                    Issue.record("it was not postponed")
                    return
                }
                #expect(pause == .withoutKey)
            }
            // Without keys the process reads them, too: none grows old on the log.
            try await whileRunning(try await ComparePagesTests.services(fixture.history)) {
                try await fixture.history.producer.send([
                    ProducerRecord(Topics.recoveryRequests, RecoveryFixture.request("1", of: "com.example.other"))
                ])
                try await becomes("it waits") {
                    try await PostponedRequestStore(connection).waiting().map(\.bundleId) == ["com.example.other"]
                }
            }
        }
    }
}
