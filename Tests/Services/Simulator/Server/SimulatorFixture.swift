import AppStore
import AsyncHTTPClient
import Contracts
import Foundation
import Hummingbird
import Signatures
import StrictJSON
import Synchronization
import Testing

@testable import Simulator

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

    let historyStore = HistoryStore(limit: 10_000)
    let deliveryService: DeliveryService
    let faults = FaultList()
    let keys: KeyRing
    let token: FixtureToken
    let signer: NotificationSigner
    private let moment = Mutex(beginning)
    private let port = Mutex(0)

    private init() throws {
        deliveryService = DeliveryService(
            Outbox(plan: Plan(apps: [Self.production, Self.sandbox], count: 1), now: Self.beginning))
        token = try FixtureToken()
        keys = KeyRing([try token.accepted])
        signer = try NotificationSignerTests.signer()
    }

    var now: Date { moment.withLock { $0 } }

    func move(by seconds: TimeInterval) { moment.withLock { $0 = $0.adding(seconds) } }

    /// Runs a server while the body runs.
    static func open(
        limitScale: Double = 1000, tokenLife: TimeInterval = 3600, keyFiles: KeyFiles? = nil,
        _ body: @Sendable (SimulatorFixture) async throws -> Void
    ) async throws {
        let fixture = try SimulatorFixture()
        let api = StoreAPI(
            apps: [production, sandbox], historyStore: fixture.historyStore, deliveryService: fixture.deliveryService,
            signer: fixture.signer,
            keys: fixture.keys, limits: RateLimits(scale: limitScale), faults: fixture.faults, tokenLife: tokenLife,
            present: { fixture.now }, now: { fixture.now })
        let control = ServerControl(
            historyStore: fixture.historyStore, deliveryService: fixture.deliveryService, keys: fixture.keys,
            keyFiles: keyFiles, faults: fixture.faults,
            now: { fixture.now })
        try await StoreServer(api: api, control: control).answering(on: "127.0.0.1", port: 0) { port in
            fixture.port.withLock { $0 = port }
            try await body(fixture)
        }
    }

    /// Notes that Apple sent this and was answered so, each attempt an hour after the one before. Moves the clock by a second.
    @discardableResult
    func send(_ event: EventPayload, answers: [Simulator.Answer] = [.accepted]) throws -> SignedNotification {
        let notification = try signer.write(PendingNotification(event: event))
        historyStore.note(event)
        let first = historyStore.begin(NotificationDelivery(notification: notification), at: { self.now })
        for (index, answer) in answers.enumerated() {
            historyStore.end(
                NotificationDelivery(notification: notification, attempt: index + 1), answer,
                sentAt: first.adding(3600 * Double(index)))
        }
        move(by: 1)
        return notification
    }

    // MARK: Requests

    var address: String { "http://127.0.0.1:\(port.withLock { $0 })" }

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
        withinMilliseconds milliseconds: Int64 = 60_000
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

extension Answer {
    static let accepted = Answer(status: 200, duration: .milliseconds(1))
    static let unavailable = Answer(status: 503, duration: .milliseconds(1))
}
