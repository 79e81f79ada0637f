import AsyncHTTPClient
import Glibc
import NIOCore
import NIOSSL
import Synchronization
import WebhookDelivery

import struct Foundation.Date
import struct Foundation.URL

/// How requests reach receivers.
struct ConnectionSettings: Sendable {
    /// Which addresses are allowed.
    var rules = AddressRules()
    /// Whether `http://` is accepted, for receivers on this machine.
    var allowsPlain = false
    /// All requests go through it, and it decides about addresses; nil: directly.
    var proxy: (host: String, port: Int)?
    /// Until a request counts as failed, the lookup of its name included: a sender that waits longer than its lease would send what
    /// another one has sent since.
    var timeout: Duration = .seconds(15)
    /// How long an address is used before the name is looked up and checked again.
    var addressAge: Duration = .seconds(30)
}

/// The connections to one endpoint: a client of its own, that connects to the checked address and no other.
actor EndpointConnection {
    /// A client and the address that it is bound to. Its connections close when no request uses it any more.
    private final class BoundClient: Sendable {
        let client: HTTPClient
        let address: NetworkAddress?

        init(_ client: HTTPClient, _ address: NetworkAddress?) {
            self.client = client
            self.address = address
        }

        deinit {
            let client = client
            Task { try? await client.shutdown() }
        }
    }

    private let url: Result<WebhookURL, Refused>
    private let settings: ConnectionSettings
    private let resolver: any Resolver
    private let readings = TimedReadings()
    private var bound: BoundClient?
    private var checkedAt: ContinuousClock.Instant?
    /// Counts failures to connect, so that another of several addresses is tried.
    private var turns = 0

    /// Does not connect yet.
    init(to url: String, _ settings: ConnectionSettings, resolver: any Resolver) {
        self.url = Self.parsed(url, settings)
        self.settings = settings
        self.resolver = resolver
    }

    /// Sends one request. Every fault is an outcome. Requests to the endpoint share only the choice of the client.
    /// - Parameter now: for a Retry-After that is a date.
    /// - Returns: what came, and the beginning of the answer's body.
    nonisolated func send(
        _ body: [UInt8], headers: [(name: String, value: String)], now: Date
    ) async -> (outcome: AttemptOutcome, answer: [UInt8]) {
        let deadline = NIODeadline.now() + .nanoseconds(Int64(settings.timeout / .nanoseconds(1)))
        let bound: BoundClient
        let url: WebhookURL
        do throws(Refused) {
            (bound, url) = try await client()
        } catch {
            return (.failed(status: nil, fault: error.description), [])
        }
        guard NIODeadline.now() < deadline else {
            let fault = "\(url.host) was not looked up within \(settings.timeout.components.seconds) s"
            return (.failed(status: nil, fault: fault), [])
        }
        var request = HTTPClientRequest(url: url.description)
        request.method = .POST
        for (name, value) in headers { request.headers.add(name: name, value: value) }
        request.body = .bytes(body)
        do {
            let answer = try await exchange(request, over: bound.client, until: deadline)
            return (AttemptOutcome(status: answer.status, retryAfter: answer.retryAfter, now: now), answer.body)
        } catch {
            await forget(bound)
            return (.failed(status: nil, fault: Self.clause(error, settings.timeout)), [])
        }
    }

    /// Closes the connections; what is under way fails.
    func close() async {
        let last = bound
        bound = nil
        try? await last?.client.shutdown()
    }

    /// A request may not, or cannot, be sent.
    private struct Refused: Error, CustomStringConvertible {
        let description: String
    }

    private static func parsed(_ text: String, _ settings: ConnectionSettings) -> Result<WebhookURL, Refused> {
        let url: WebhookURL
        do throws(WebhookURL.Objection) {
            url = try WebhookURL(text, allowsPlain: settings.allowsPlain)
        } catch {
            return .failure(Refused(description: "the URL is not accepted: \(error)"))
        }
        // Two parsers must agree on where the client connects to.
        guard URL(string: url.description)?.host?.lowercased() == url.host else {
            return .failure(Refused(description: "the URL is read in different ways"))
        }
        return .success(url)
    }

    /// The client to send with: looks the name up again where that is due, checks every address, and binds a new client where the
    /// address is not among them any more.
    private func client() async throws(Refused) -> (BoundClient, WebhookURL) {
        let url = try url.get()
        if let bound, let checkedAt, checkedAt.duration(to: .now) < settings.addressAge { return (bound, url) }
        guard settings.proxy == nil else {
            let made = bound ?? BoundClient(makeClient(url, at: nil), nil)
            (bound, checkedAt) = (made, .now)
            return (made, url)
        }
        let addresses: [NetworkAddress]
        if let address = NetworkAddress(url.host) {
            addresses = [address]
        } else {
            do throws(Unresolved) {
                addresses = try await resolver.addresses(of: url.host)
            } catch {
                throw Refused(description: error.description)
            }
        }
        for address in addresses {
            if let objection = settings.rules.objection(to: address) {
                bound = nil
                throw Refused(description: "no request is sent to \(url.host): \(objection)")
            }
            guard url.isEncrypted || address.isLoopback else {
                bound = nil
                throw Refused(description: "http:// is for receivers on this machine, and \(address) is none")
            }
        }
        checkedAt = .now
        if let bound, let address = bound.address, addresses.contains(address) { return (bound, url) }
        let address = addresses[turns % addresses.count]
        let made = BoundClient(makeClient(url, at: address), address)
        bound = made
        return (made, url)
    }

    /// After a failure the name is looked up again, and another of its addresses is tried.
    private func forget(_ failed: BoundClient) {
        guard bound === failed else { return }
        turns += 1
        bound = nil
    }

    private func makeClient(_ url: WebhookURL, at address: NetworkAddress?) -> HTTPClient {
        var configuration = HTTPClient.Configuration()
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        configuration.tlsConfiguration = tls
        // A receiver must not send requests elsewhere, into this network for one.
        configuration.redirectConfiguration = .disallow
        configuration.httpVersion = .http1Only
        configuration.decompression = .disabled
        // Receivers are others' servers: they get no trace of ours.
        configuration.tracing.tracer = nil
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = Places.most
        configuration.connectionPool.idleTimeout = .seconds(30)
        configuration.timeout.connect = .seconds(5)
        if let address, NetworkAddress(url.host) == nil {
            // Connects to the checked address; the name stays in Host, in SNI and in what the certificate must say.
            configuration.dnsOverride = [url.host: address.description]
        }
        if let proxy = settings.proxy { configuration.proxy = .server(host: proxy.host, port: proxy.port) }
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    private struct Answer: Sendable {
        var status: Int
        var retryAfter: String?
        var body: [UInt8]
    }

    /// The head decides; of the body the beginning is read, as far as it comes in time.
    private nonisolated func exchange(
        _ request: HTTPClientRequest, over client: HTTPClient, until deadline: NIODeadline
    ) async throws -> Answer {
        let response = try await client.execute(request, deadline: deadline)
        var answer = Answer(
            status: Int(response.status.code), retryAfter: response.headers.first(name: "retry-after"), body: [])
        answer.body = await beginning(of: response.body, until: deadline, on: client.eventLoopGroup.any())
        return answer
    }

    private nonisolated func beginning(
        of body: HTTPClientResponse.Body, until deadline: NIODeadline, on loop: any EventLoop
    ) async -> [UInt8] {
        let reading = Task {
            var bytes: [UInt8] = []
            do {
                for try await part in body {
                    bytes += part.readableBytesView.prefix(AnswerExcerpt.limit - bytes.count)
                    // Ends the connection: the rest is not read.
                    if bytes.count >= AnswerExcerpt.limit { break }
                }
            } catch {
                // What came is kept: the status has decided.
            }
            return bytes
        }
        let number = readings.add(reading, until: deadline, on: loop)
        defer { readings.remove(number) }
        return await reading.value
    }

    /// An error in words, without what was sent.
    private static func clause(_ error: any Error, _ timeout: Duration) -> String {
        switch error {
        case let error as HTTPClientError where error == .deadlineExceeded || error == .readTimeout:
            "no answer within \(timeout.components.seconds) s"
        case let error as HTTPClientError where error == .connectTimeout: "no connection within 5 s"
        case let error as HTTPClientError: "no answer: \(error.shortDescription)"
        case let error as NIOSSLExtraError: "the certificate is not accepted: \(error)"
        case let error as NIOSSLError: "no TLS connection: \(error)"
        case let error as IOError: "no connection: \(String(cString: strerror(error.errnoCode)))"
        default: "no answer: \(error)"
        }
    }
}

/// Answers of one receiver that are being read, each with its end. They share a timer: almost all end long before, and a timer for
/// each would wake an event loop twice for a request.
private final class TimedReadings: Sendable {
    private struct State {
        var next = 0
        var readings: [Int: (task: Task<[UInt8], Never>, deadline: NIODeadline)] = [:]
        /// When the next one ends; nil: none is read.
        var end: NIODeadline?
    }

    private let state = Mutex(State())

    /// - Returns: the number for ``remove(_:)``.
    func add(_ task: Task<[UInt8], Never>, until deadline: NIODeadline, on loop: any EventLoop) -> Int {
        let (number, isFirst) = state.withLock { state in
            let isFirst = state.end.map { deadline < $0 } ?? true
            if isFirst { state.end = deadline }
            state.next += 1
            state.readings[state.next] = (task, deadline)
            return (state.next, isFirst)
        }
        if isFirst { time(until: deadline, on: loop) }
        return number
    }

    func remove(_ number: Int) { state.withLock { $0.readings[number] = nil } }

    private func time(until deadline: NIODeadline, on loop: any EventLoop) {
        loop.scheduleTask(deadline: deadline) { [self] in
            let now = NIODeadline.now()
            let (ended, next) = state.withLock { state in
                let ended = state.readings.values.filter { $0.deadline <= now }.map(\.task)
                state.readings = state.readings.filter { $0.value.deadline > now }
                // Where an earlier end came later, its timer goes on.
                guard state.end == deadline else { return (ended, NIODeadline?.none) }
                state.end = state.readings.values.map(\.deadline).min()
                return (ended, state.end)
            }
            for task in ended { task.cancel() }
            if let next { time(until: next, on: loop) }
        }
    }
}
