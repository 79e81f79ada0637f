import Testing

@testable import Kafka

@Suite struct DeliveryTests {
    private let good = DeliveryReport(partition: 3, offset: 7, error: nil)

    @Test func `Delivery is settled by its last report and not before`() async throws {
        let delivery = Delivery()
        for _ in 0..<2 { delivery.expect() }
        delivery.seal()
        delivery.receive(DeliveryReport(partition: 0, offset: -1, error: KafkaError(code: 10)))
        #expect(!delivery.isSettled)
        delivery.receive(good)
        #expect(delivery.isSettled)
        #expect(try await failure { _ = try await delivery.outcome() }.code == 10)
    }

    @Test func `Delivery is not settled while its sender still enqueues`() async throws {
        let delivery = Delivery()
        delivery.expect()
        delivery.receive(good)
        #expect(!delivery.isSettled)
        delivery.seal()
        #expect(try await delivery.outcome().offset == 7)
    }

    @Test func `Delivery fails for a record that could not be enqueued, and expects no report for it`() async throws {
        let delivery = Delivery()
        delivery.expect()
        delivery.refuse(KafkaError(code: -184))
        delivery.seal()
        #expect(try await failure { _ = try await delivery.outcome() }.code == -184)
    }

    @Test func `Delivery ignores reports after the sender has gone`() async throws {
        let delivery = Delivery()
        delivery.expect()
        delivery.seal()
        delivery.abandon(KafkaError(code: -185))
        delivery.receive(good)
        #expect(try await failure { _ = try await delivery.outcome() }.code == -185)
    }

    @Test func `Delivery ignores a cancellation once it is settled`() async throws {
        let delivery = Delivery()
        delivery.expect()
        delivery.seal()
        delivery.receive(good)
        delivery.abandon(CancellationError())
        #expect(try await delivery.outcome().partition == 3)
    }
}
