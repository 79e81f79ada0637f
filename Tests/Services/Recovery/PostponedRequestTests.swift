import Chassis
import Contracts
import Foundation
import Kafka
import Pipeline
import Storage
import Subscriptions
import TestSupport
import Testing

@testable import AppStore
@testable import Recovery
@testable import SimulatedAppStore

/// Requests that Apple cannot answer now.
@Suite(.serialized, .hangLimit) struct PostponedRequestTests {
    @Test func `App whose key is rejected holds up no other, and its requests do not vanish`() async throws {
        try await RecoveryFixture.open { fixture in
            let purchase = try fixture.subscriber([.subscribe]).id
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

    @Test func `Request that was postponed is asked again when its time has come`() async throws {
        try await RecoveryFixture.open { fixture in
            let purchase = try fixture.subscriber([.subscribe]).id
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

    @Test func `Request that could not be published is due at once`() async throws {
        try await History.use { history in
            let postponed = PostponedRequestStore(history.connection)
            let request = RecoveryFixture.request("1")
            try await RecoveryAnswerStore(history.connection).record(
                [], attempts: [],
                postponed: [
                    PostponedRequest(
                        request: request, pause: .zero, reason: "a limit", postponedAt: RecoveryFixture.now)
                ])
            // It sends nothing before it has seen the topics.
            let producer = try Producer(
                history.broker.configuration, requiring: [Topics.recoveryRequests.name: 1], logger: History.logger)
            let retry = RetryPostponedRequests(
                postponed: postponed, producer: producer,
                liveness: Health(instant: { .now }).livenessProbe("test", limit: .hangLimit), logger: History.logger)
            await #expect(throws: KafkaError.self) { try await retry.turn() }
            try await producer.warmUp()
            try await retry.turn()
            #expect(try await history.broker.messages(of: Topics.recoveryRequests).map(\.before) == [request.before])
        }
    }

    @Test func `CircuitBreaker stops requests for an app's customers while Apple rejects its key`() async throws {
        try await RecoveryFixture.open { fixture in
            let purchase = try fixture.subscriber([.subscribe]).id
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

    @Test func `Request of an app without a key waits for one, also where there are no keys at all`() async throws {
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
