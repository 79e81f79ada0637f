import AppStore
import AsyncHTTPClient
import Contracts
import Foundation
import Hummingbird
import Signatures
import StrictJSON
import TestSupport
import Testing

@testable import SimulatedAppStore

/// A server with the API on a port of its own, a history that a test fills, and a clock that a test moves.
final class SimulatorFixture: Sendable {
    struct Answer: Sendable {
        var status: Int
        var body: [UInt8]
        var retryAfter: String?

        var json: JSONValue? { try? JSONDocument(body).root }
        var errorCode: Int64? { json?["errorCode"]?.int64 }
        var errorMessage: String? { json?["errorMessage"]?.string }
    }

    static let production = App(bundleId: "com.example.app", appAppleId: 1_234_567_890, environment: .production)
    static let sandbox = App(bundleId: "com.example.app", appAppleId: 1_234_567_890, environment: .sandbox)
    /// The present of the other fixtures, in which their authority is valid.
    static let beginning = NotificationSignerTests.now

    let token: FixtureToken
    private let appStore: RunningAppStore
    private let clock: ManualClock

    private init(_ appStore: RunningAppStore, _ token: FixtureToken, _ clock: ManualClock) {
        self.appStore = appStore
        self.token = token
        self.clock = clock
    }

    var historyStore: HistoryStore { appStore.historyStore }
    var deliveryService: DeliveryService { appStore.deliveryService }
    var faults: FaultList { appStore.faults }
    var keys: KeyRing { appStore.keys }
    var now: Date { clock.now }

    func move(by seconds: TimeInterval) { clock.advance(by: seconds) }

    /// Runs a server while the body runs.
    static func open(
        limitScale: Double = 1000, tokenLife: TimeInterval = 3600, keyFiles: KeyFiles? = nil,
        review: RetentionReview = RetentionReview(), timeOfDay: (@Sendable () -> Date)? = nil,
        refused: @escaping @Sendable (String) -> Void = { _ in },
        _ body: @Sendable (SimulatorFixture) async throws -> Void
    ) async throws {
        let token = try FixtureToken()
        let clock = ManualClock(at: beginning)
        try await RunningAppStore.with(
            [production, sandbox], keys: [try token.accepted], signer: try NotificationSignerTests.signer(),
            limitScale: limitScale, tokenLife: tokenLife, keyFiles: keyFiles, review: review, present: { clock.now },
            timeOfDay: timeOfDay, refused: refused
        ) { appStore in
            try await body(SimulatorFixture(appStore, token, clock))
        }
    }

    /// Notes that Apple sent this and was answered so, each attempt an hour after the one before. Moves the clock by a second.
    @discardableResult
    func send(_ event: EventPayload, answers: [SimulatedAppStore.Answer] = [.accepted]) throws -> SignedNotification {
        let notification = try appStore.send(event, at: now, answers: answers)
        move(by: 1)
        return notification
    }

    // MARK: Requests

    var address: String { appStore.url }

    func get(_ path: String, in environment: StoreEnvironment = .production) async throws -> Answer {
        try await ask("GET", path, in: environment)
    }

    func post(
        _ path: String, _ body: String = "{}", in environment: StoreEnvironment = .production
    ) async throws -> Answer { try await ask("POST", path, body, in: environment) }

    func put(
        _ path: String, _ body: String, in environment: StoreEnvironment = .production
    ) async throws -> Answer { try await ask("PUT", path, body, in: environment) }

    /// - Parameter path: from the version on.
    func ask(
        _ method: String, _ path: String, _ body: String? = nil, in environment: StoreEnvironment = .production,
        authorization: String? = nil
    ) async throws -> Answer {
        try await send(
            method, "/\(environment.rawValue.lowercased())/inApps/\(path)", body,
            authorization: try authorization ?? "Bearer \(token.text(now: now))")
    }

    /// - Parameter path: from the host on.
    func send(
        _ method: String, _ path: String, _ body: String? = nil, authorization: String? = nil,
        withinMilliseconds milliseconds: Int64 = 300_000
    ) async throws -> Answer {
        var request = HTTPClientRequest(url: address + path)
        request.method = .init(rawValue: method)
        if let authorization { request.headers.add(name: "authorization", value: authorization) }
        if let body { request.body = .bytes(Array(body.utf8)) }
        let response = try await HTTPClient.shared.execute(request, timeout: .milliseconds(milliseconds))
        let content = try await response.body.collect(upTo: 16 << 20)
        return Answer(
            status: Int(response.status.code), body: Array(content.readableBytesView),
            retryAfter: response.headers.first(name: "retry-after"))
    }
}
