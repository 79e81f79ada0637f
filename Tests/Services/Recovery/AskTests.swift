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

@Suite(.serialized, .timeLimit(.minutes(3))) struct AskTests {
    /// The life of one customer, event by event.
    struct Subscriber {
        private var identities = Identities(seed: 7, now: AppleCounter.now)
        private var life: SimulatedPurchase
        private(set) var purchase = ""

        init() {
            var random = SeededRandom(seed: 7)
            let customer = Customer(of: AppleCounter.apple, random: &random, identities: &identities)
            life = SimulatedPurchase(
                of: customer, timeScale: TimeScale(environment: .production, scale: 1),
                beginning: AppleCounter.now.addingTimeInterval(-100 * 86_400))
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
    static func subscriber(_ events: [LifecycleEvent], at counter: AppleCounter) throws -> Subscriber {
        var subscriber = Subscriber()
        for event in events {
            try counter.happen(subscriber.apply(event), sentAt: AppleCounter.now.addingTimeInterval(-3600))
        }
        return subscriber
    }

    static func findings(_ counter: AppleCounter, _ purchase: String) async throws -> Findings {
        let result = try await counter.ask.process([AppleCounter.delivery(AppleCounter.request(purchase))])[0]
        guard case .forward(.answered(let findings)) = result else {
            throw AppleCounter.Refused(result: "\(result)")
        }
        return findings
    }

    @Test func `what Apple knows of a customer and the ledger lacks goes on the line, once`() async throws {
        try await AppleCounter.open { counter in
            let purchase = try Self.subscriber([.subscribe, .renew, .turnRenewalOff], at: counter).purchase
            let (first, second) = (AppleCounter.request(purchase), AppleCounter.request(purchase))
            let answers = RecoveryAnswerStore(counter.history.connection)
            let key = SubscriptionKey(environment: .production, originalTransactionId: purchase)
            try await whileRunning(try await counter.parts()) {
                try await counter.history.producer.send([ProducerRecord(Topics.recoveryRequests, first)])
                try await becomes("it is answered") { try await answers.answers(of: key).count == 1 }
                // Two parts beside the three; on a slow machine the question may be repeated, and then all of it is.
                let count = Int(try await counter.history.end(of: Topics.received.name))
                #expect(count >= 5)
                let received = try await counter.history.read(Topics.received, count: count)
                #expect(received.allSatisfy { $0.source == .history && $0.traceparent != nil })
                try await counter.runLine(received)
                // Once more, now that all of it is known.
                try await counter.history.producer.send([ProducerRecord(Topics.recoveryRequests, second)])
                try await becomes("it is answered") { try await answers.answers(of: key).count == 2 }
            }
            let answered = try await answers.answers(of: key)
            let before = try #require(answered.first { $0.before == first.before })
            #expect(before.outcome == "answered")
            #expect(before.notifications == 3)
            #expect(before.missing == 3)
            #expect(before.parts > 0)
            let after = try #require(answered.first { $0.before == second.before })
            #expect(after.missing == 0)
            #expect(after.parts == 0)
            #expect(after.revision != nil)
            let subscription = try #require(try await counter.subscription(purchase))
            #expect(subscription.transaction?.transactionId != purchase)
            #expect(subscription.renewal?.autoRenewStatus == false)
        }
    }

    @Test func `a refund of which no notification is left comes again in the transaction history`() async throws {
        try await AppleCounter.open { counter in
            var subscriber = try Self.subscriber([.subscribe, .renew], at: counter)
            let purchase = subscriber.purchase
            let before = try await Self.findings(counter, purchase)
            try await counter.runLine(before.received(at: AppleCounter.now))
            try await RecoveryAnswerStore(counter.history.connection).record(
                [before.answer(at: AppleCounter.now)], attempts: [])
            #expect(try await counter.subscription(purchase)?.transaction?.revocationDate == nil)
            // Older than Apple's history reaches back.
            try counter.happen(subscriber.apply(.refund), sentAt: nil)
            let after = try await Self.findings(counter, purchase)
            #expect(after.notifications.allSatisfy { $0.state == .present })
            #expect(!after.parts.isEmpty)
            #expect(after.revision != before.revision)
            try await counter.runLine(after.received(at: AppleCounter.now))
            #expect(try await counter.subscription(purchase)?.transaction?.revocationDate != nil)
        }
    }

    @Test func `a revision that Apple does not accept any more begins the history anew`() async throws {
        try await AppleCounter.open { counter in
            let purchase = try Self.subscriber([.subscribe, .renew], at: counter).purchase
            let key = SubscriptionKey(environment: .production, originalTransactionId: purchase)
            try await RecoveryAnswerStore(counter.history.connection).record(
                [
                    RecoveryAnswer(
                        key: key, bundleId: History.app.bundleId, before: UUID(), outcome: "answered",
                        revision: "of another query", answeredAt: AppleCounter.now)
                ], attempts: [])
            let findings = try await Self.findings(counter, purchase)
            #expect(findings.refusals.isEmpty)
            #expect(!findings.parts.isEmpty)
        }
    }

    @Test func `what cannot be asked about is put away with its reason`() async throws {
        try await AppleCounter.open { counter in
            var xcode = AppleCounter.request("1")
            xcode.environment = .xcode
            let requests = [AppleCounter.request("999999999"), xcode]
            let results = try await counter.ask.process(requests.map(AppleCounter.delivery))
            let reasons = results.map { result -> AskReason? in
                guard case .discard(let reason) = result else { return nil }
                return reason
            }
            #expect(reasons == [.notFound, .withoutHistory])
            // Nobody waits for them, and an operator can read why.
            try await whileRunning(try await counter.parts()) {
                let answers = RecoveryAnswerStore(counter.history.connection)
                try await counter.history.producer.send(requests.map { ProducerRecord(Topics.recoveryRequests, $0) })
                let key = SubscriptionKey(environment: .production, originalTransactionId: "999999999")
                try await becomes("it is put away") {
                    try await answers.answers(of: key).first?.outcome == AskReason.notFound.rawValue
                }
                #expect(try await answers.answers(of: key).first?.message?.contains("knows nothing") == true)
            }
        }
    }

    @Test func `what cannot be proven here goes on the line, which decides about it`() async throws {
        try await AppleCounter.open { counter in
            let knowledge = Knowledge(counter.history.connection)
            let refusal = Refusal(.nestedMismatch, "signed for another app")
            let transaction = SignedItem<JWSTransactionDecodedPayload>(jws: [1], proof: .failure(refusal))
            let renewal = SignedItem<JWSRenewalInfoDecodedPayload>(jws: [2], proof: .failure(refusal))
            let news = try await (
                knowledge.news(in: [transaction], .production), knowledge.news(in: [renewal], .production)
            )
            #expect(news == ([[1]], [[2]]))
            var findings = Findings(request: AppleCounter.request("1"))
            findings.parts = news.0 + news.1
            let received = findings.received(at: AppleCounter.now)
            #expect(received.allSatisfy { $0.bundleId == History.app.bundleId && $0.source == .history })
        }
    }

    @Test func `an app whose key is refused holds up no other, and its requests do not vanish`() async throws {
        try await AppleCounter.open { counter in
            let purchase = try Self.subscriber([.subscribe], at: counter).purchase
            // Of the same key, so both stand in the same partition.
            let refused = AppleCounter.request(purchase, of: AppleCounter.refusedApp)
            let request = AppleCounter.request(purchase)
            let answers = RecoveryAnswerStore(counter.history.connection)
            let postponed = PostponedRequestStore(counter.history.connection)
            let key = SubscriptionKey(environment: .production, originalTransactionId: purchase)
            try await whileRunning(try await counter.parts()) {
                try await counter.history.producer.send([ProducerRecord(Topics.recoveryRequests, refused)])
                try await counter.history.producer.send([ProducerRecord(Topics.recoveryRequests, request)])
                try await becomes("it is answered") {
                    try await answers.answers(of: key).first?.outcome == "answered"
                }
                try await becomes("the other waits") {
                    try await postponed.waiting().map(\.bundleId) == [AppleCounter.refusedApp]
                }
            }
            let waiting = try await postponed.waiting()
            #expect(waiting.map(\.requests) == [1])
            #expect(waiting.first?.lastError.contains("refuses every key") == true)
            #expect(try await answers.answers(of: key).count == 1)
        }
    }

    @Test func `a request that was postponed is asked again when its time has come`() async throws {
        try await AppleCounter.open { counter in
            let purchase = try Self.subscriber([.subscribe], at: counter).purchase
            let request = AppleCounter.request(purchase)
            let answers = RecoveryAnswerStore(counter.history.connection)
            let postponed = PostponedRequestStore(counter.history.connection)
            let key = SubscriptionKey(environment: .production, originalTransactionId: purchase)
            try await answers.record(
                [], attempts: [],
                postponed: [
                    PostponedRequest(request: request, pause: .zero, reason: "a limit", postponedAt: AppleCounter.now)
                ])
            try await whileRunning(try await counter.parts()) {
                try await becomes("it is answered") {
                    try await answers.answers(of: key).first?.outcome == "answered"
                }
            }
            #expect(try await answers.answers(of: key).map(\.before) == [request.before])
            #expect(try await postponed.waiting().isEmpty)
        }
    }

    @Test func `while Apple refuses an app's key, nobody asks for its other customers`() async throws {
        try await AppleCounter.open { counter in
            let purchase = try Self.subscriber([.subscribe], at: counter).purchase
            let delivery = AppleCounter.delivery(AppleCounter.request(purchase))
            let ask = counter.ask
            counter.revokeKey()
            guard case .forward(.postponed(_, let pause)) = try await ask.process([delivery])[0] else {
                Issue.record("it was not postponed")
                return
            }
            #expect(pause.length == .seconds(60))
            // Apple would answer again, and nobody has asked it.
            counter.acceptKey()
            guard case .forward(.postponed(_, let rest)) = try await ask.process([delivery])[0] else {
                Issue.record("it was asked")
                return
            }
            #expect(rest == pause)
            let result = try await counter.ask.process([delivery])[0]
            guard case .forward(.answered) = result else {
                Issue.record("it was not answered: \(result)")
                return
            }
        }
    }

    @Test func `a request of an app without a key waits for one, also where there are no keys at all`() async throws {
        try await AppleCounter.open { counter in
            let delivery = AppleCounter.delivery(AppleCounter.request("1", of: "com.example.other"))
            let connection = counter.history.connection
            let keyless = Ask(
                clients: nil, items: RecoveryItemStore(connection), answers: RecoveryAnswerStore(connection),
                knowledge: Knowledge(connection), now: { AppleCounter.now })
            for ask in [counter.ask, keyless] {
                guard case .forward(.postponed(_, let pause)) = try await ask.process([delivery])[0] else {
                    Issue.record("it was not postponed")
                    return
                }
                #expect(pause == .withoutKey)
            }
            // Without keys the process reads them, too: none grows old on the log.
            try await whileRunning(try await RecoverTests.parts(counter.history)) {
                try await counter.history.producer.send([
                    ProducerRecord(Topics.recoveryRequests, AppleCounter.request("1", of: "com.example.other"))
                ])
                try await becomes("it waits") {
                    try await PostponedRequestStore(connection).waiting().map(\.bundleId) == ["com.example.other"]
                }
            }
        }
    }
}
