import Chassis
import Contracts
import Development
import Foundation
import Kafka
import ServiceLifecycle
import TestSupport
import Testing

@testable import Ingest

/// The real server on a free port before a real producer and a development broker.
struct RunningReceiver: Sendable {
    let port: Int
    let broker: DevelopmentBroker
    let tally: Tally
    let budget: BodyBudget
    let group: ServiceGroup

    static let payload = "eyJhbGciOiJFUzI1NiJ9.eyJhIjoxfQ.c2lnbmF0dXJl"
    static let notification = "{\"signedPayload\":\"\(payload)\"}"

    static func with<Result: Sendable>(
        limits: Limits = .patient(),
        clock: ProcessClock = ProcessClock(now: { Date(timeIntervalSince1970: 1_700_000_000) }, instant: { .now }),
        tracer: Tracer = Tracer(isOn: false, random: { 7 }),
        body: (RunningReceiver) async throws -> Result
    ) async throws -> Result {
        let logger = Logger.quiet
        let broker = try DevelopmentBroker(topics: [(Topics.received.name, 1)], logger: logger)
        let producer = try Producer(broker.configuration, logger: logger)
        try await producer.warmUp(topic: Topics.received.name)
        let tally = Tally()
        let (ports, signal) = AsyncStream.makeStream(of: Int.self)
        let budget = BodyBudget(limit: limits.bodies)
        let receiver = Receiver(
            address: ListenAddress(host: "127.0.0.1", port: 0), limits: limits, budget: budget,
            shares: AddressShares(places: limits.inFlight, share: limits.addressShare),
            producer: NotificationProducer(producer: producer, limits: limits, instant: clock.instant, logger: logger),
            tally: tally,
            tracing: RequestTracing(tracer: tracer), clock: clock,
            logger: logger, onListening: { signal.yield($0) })
        let group = ServiceGroup(configuration: .init(services: [receiver], logger: logger))
        async let run: Void = group.run()
        var iterator = ports.makeAsyncIterator()
        let port = try #require(await iterator.next())
        let result = try await body(
            RunningReceiver(port: port, broker: broker, tally: tally, budget: budget, group: group))
        await group.triggerGracefulShutdown()
        try await run
        await producer.close(deadline: .zero)
        return result
    }

    func client() throws -> RawClient { try RawClient(port: port) }

    /// The first records of the topic, as many as requested.
    func records(_ count: Int) async throws -> [ConsumerRecord] {
        try await broker.records(of: Topics.received.name, partitions: 1) { $0.count >= count }
    }
}

extension Limits {
    /// The defaults, but for the times that a busy machine exceeds, and for what a test is about.
    static func patient(_ change: (inout Limits) -> Void = { _ in }) -> Limits {
        var limits = Limits(reading: .hangLimit, acknowledgement: .hangLimit)
        change(&limits)
        return limits
    }
}
