import Testing

@testable import Kafka

@Suite struct PendingSendTests {
    private let good = DeliveryReport(partition: 3, offset: 7, error: nil)

    @Test func `PendingSend is settled by its last report and not before`() async throws {
        let delivery = PendingSend()
        for _ in 0..<2 { delivery.expect() }
        delivery.seal()
        delivery.receive(DeliveryReport(partition: 0, offset: -1, error: KafkaError(code: 10)))
        #expect(!delivery.isSettled)
        delivery.receive(good)
        #expect(delivery.isSettled)
        #expect(try await failure { _ = try await delivery.outcome() }.code == 10)
    }

    @Test func `PendingSend is not settled while its sender still enqueues`() async throws {
        let delivery = PendingSend()
        delivery.expect()
        delivery.receive(good)
        #expect(!delivery.isSettled)
        delivery.seal()
        #expect(try await delivery.outcome().offset == 7)
    }

    @Test func `PendingSend fails for a record that could not be enqueued, and expects no report for it`() async throws
    {
        let delivery = PendingSend()
        delivery.expect()
        delivery.refuse(KafkaError(code: -184))
        delivery.seal()
        #expect(try await failure { _ = try await delivery.outcome() }.code == -184)
    }

    @Test func `PendingSend ignores reports after the sender has gone`() async throws {
        let delivery = PendingSend()
        delivery.expect()
        delivery.seal()
        delivery.abandon(KafkaError(code: -185))
        delivery.receive(good)
        #expect(try await failure { _ = try await delivery.outcome() }.code == -185)
    }

    @Test func `PendingSend ignores a cancellation once it is settled`() async throws {
        let delivery = PendingSend()
        delivery.expect()
        delivery.seal()
        delivery.receive(good)
        delivery.abandon(CancellationError())
        #expect(try await delivery.outcome().partition == 3)
    }
}
