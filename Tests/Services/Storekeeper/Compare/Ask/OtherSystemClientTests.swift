import Chassis
import Commands
import Foundation
import ServerAPI
import TestSupport
import Testing

@testable import SimulatedAppStore
@testable import Storekeeper

/// Questions about one customer over HTTP, with the pauses on a clock of the test's.
struct OtherSystemClientTests {
    private static func use(
        _ shape: ExportShape = .revenueCat, key: String? = nil, rate: Double = 1000,
        _ body: @escaping @Sendable (SimulatedOtherSystem, OtherSystemClient, SkippingClock) async throws -> Void
    ) async throws {
        try await SimulatedOtherSystem.use(shape, differences: 1) { other async throws in
            let ticking = SkippingClock()
            let clock = APIClock(clock: ticking, now: { SimulatedOtherSystem.now }, random: { 1 })
            let transport = APITransport()
            let outcome: Result<Void, any Error>
            do {
                try await body(
                    other,
                    OtherSystemClient(
                        system: other.system, base: other.url, key: Secret(revealing: Array((key ?? other.key).utf8)),
                        transport: transport, limit: RequestLimit(perSecond: rate, burst: 1, clock: clock), clock: clock
                    ), ticking)
                outcome = .success(())
            } catch { outcome = .failure(error) }
            try await transport.shutdown()
            try outcome.get()
        }
    }

    /// Whether the customer is known there.
    private static func isKnown(_ customer: String, to client: OtherSystemClient) async throws -> Bool {
        if case .known = try await client.ask(about: customer) { return true }
        return false
    }

    @Test func `Client asks at the rate, and after 429 when the pause that was asked for is over`() async throws {
        try await Self.use(rate: 8) { other, client, ticking async throws in
            let customers = try other.customers()
            for customer in customers.prefix(5) { #expect(try await Self.isKnown(customer, to: client)) }
            // The first goes at once.
            #expect(ticking.now.offset == .milliseconds(500))
            other.store.faults.add(ServerFault(kind: .storm, remaining: 2, delay: .seconds(7)))
            #expect(try await Self.isKnown(customers[0], to: client))
            #expect(ticking.now.offset >= .seconds(14) && ticking.now.offset < .seconds(16), "\(ticking.now.offset)")
        }
    }

    @Test func `Client asks again where the system fails, and gives up after some attempts`() async throws {
        try await Self.use { other, client, ticking async throws in
            let customer = try #require(try other.customers().first)
            other.store.faults.add(ServerFault(kind: .error, remaining: 2))
            #expect(try await Self.isKnown(customer, to: client))
            #expect(ticking.sleeps.filter { $0 >= .milliseconds(500) } == [.milliseconds(500), .seconds(1)])
            other.store.faults.add(ServerFault(kind: .error, remaining: 5))
            #expect(try await client.ask(about: customer) == .failed("RevenueCat answers 500"))
            #expect(try await Self.isKnown(customer, to: client))
        }
    }

    @Test(arguments: ExportShape.allCases)
    func `Client knows no strangers, and refused keys stop it`(shape: ExportShape) async throws {
        try await Self.use(shape) { _, client, _ async throws in
            #expect(try await client.ask(about: "a/b?c d") == .unknown)
        }
        try await Self.use(shape, key: "public") { other, client, _ async throws in
            let customer = try #require(try other.customers().first)
            let error = await #expect(throws: CommandError.self) { _ = try await client.ask(about: customer) }
            #expect(error.map { "\($0)".contains("refuses the key") && !"\($0)".contains("public") } == true)
        }
    }

    @Test func `No answer at all stops the client with the reason`() async throws {
        try await Self.use { _, client, ticking async throws in
            var retry = APIRetryPolicy()
            retry.attempts = 2
            let lonely = OtherSystemClient(
                system: client.system, base: "http://127.0.0.1:1", key: client.key, transport: client.transport,
                limit: client.limit, clock: client.clock, retry: retry)
            let error = await #expect(throws: CommandError.self) { _ = try await lonely.ask(about: "a") }
            #expect(error.map { "\($0)".contains("does not answer") } == true)
            #expect(ticking.sleeps.contains(.milliseconds(500)))
        }
    }
}
