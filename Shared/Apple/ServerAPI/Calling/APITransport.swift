import AsyncHTTPClient
import HTTPLimits
import Synchronization

import struct Foundation.Date

/// The answer of a server that is not Apple's.
package enum ServerAnswer: Sendable {
    /// Any status at all.
    /// - Parameter pause: how long the server wants a pause; nil where it does not say.
    case answered(status: Int, body: [UInt8], pause: Duration?)
    /// No complete answer, and why.
    case unanswered(String)
}

/// Carries requests to Apple and answers back. One for a process, whatever the number of apps: it keeps the connections.
public struct APITransport: Sendable, CustomReflectable {
    private let client: HTTPClient
    private let maximumResponseBytes: Int
    private let userAgent: String

    /// - Parameters:
    ///   - maximumResponseBytes: A longer answer is not read to its end. Twenty notifications have half a megabyte.
    ///   - userAgent: What each request says of the program that sends it, such as `Storekeeper/0.4.0`.
    public init(maximumResponseBytes: Int = 16 << 20, userAgent: String = "Storekeeper") {
        self.maximumResponseBytes = maximumResponseBytes
        self.userAgent = userAgent
        var configuration = HTTPClient.Configuration()
        // Apple does not redirect, and a token must not be sent to another host.
        configuration.redirectConfiguration = .disallow
        // Attempts are repeated where limits, deadline and kind of call are known: not here.
        configuration.connectionPool.retryConnectionEstablishment = false
        // Sooner than a server closes an idle connection, perhaps while an extension is setting out on it.
        configuration.connectionPool.idleTimeout = .seconds(20)
        client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    /// Nothing: the connections within hold requests, and those hold tokens.
    public var customMirror: Mirror { Mirror(self, children: []) }

    /// Closes the connections. To be called once before the process ends; calls fail afterwards.
    public func shutdown() async throws { try await client.shutdown() }

    /// One attempt.
    ///
    /// - Parameter timeout: Until the whole answer has to be there.
    /// - Throws: `CancellationError` only; everything else is an outcome.
    func send(
        _ request: APIRequest, to base: String, token: BearerToken, timeout: Duration
    ) async throws(CancellationError) -> APIOutcome {
        let departure = Departure()
        var message = HTTPClientRequest(url: base + request.target)
        message.method = .init(rawValue: request.method.rawValue)
        message.headers.add(name: "authorization", value: "Bearer \(token.text)")
        message.headers.add(name: "accept", value: "application/json")
        message.headers.add(name: "user-agent", value: userAgent)
        if let body = request.body {
            message.headers.add(name: "content-type", value: request.contentType)
            message.body = .stream(
                DepartingBytes(bytes: body, departure: departure), length: .known(Int64(body.count)))
        } else {
            departure.note()
        }
        return try await outcome(of: message, departure, timeout: timeout)
    }

    /// One attempt to read from another server, whose API has credentials of its own.
    ///
    /// - Parameters:
    ///   - url: The whole address, encoded.
    ///   - headers: What authorizes the request, and what the server wants besides.
    ///   - now: For a Retry-After that names a moment.
    ///   - timeout: Until the whole answer has to be there.
    /// - Throws: `CancellationError` only; everything else is an answer.
    package func get(
        _ url: String, headers: [(name: String, value: String)], now: Date, timeout: Duration
    ) async throws(CancellationError) -> ServerAnswer {
        var message = HTTPClientRequest(url: url)
        message.headers.add(name: "accept", value: "application/json")
        message.headers.add(name: "user-agent", value: userAgent)
        for header in headers { message.headers.add(name: header.name, value: header.value) }
        switch try await outcome(of: message, Departure(), timeout: timeout) {
        case .answered(let answer):
            return .answered(
                status: answer.status, body: answer.body, pause: RetryAfter.pause(answer.retryAfter, now: now))
        case .unanswered(let reason, _): return .unanswered(reason)
        case .oversized(let status, let limit): return .unanswered("\(status) with more than \(limit) bytes")
        }
    }

    private func outcome(
        of message: HTTPClientRequest, _ departure: Departure, timeout: Duration
    ) async throws(CancellationError) -> APIOutcome {
        do {
            return try await withTimeLimit(timeout) { try await exchange(message, timeout: timeout) }
        } catch {
            if Task.isCancelled { throw CancellationError() }
            // A failure's own words may quote what was sent; its kind does not.
            let reason = (error as? HTTPClientError)?.shortDescription ?? "the connection failed"
            return .unanswered(reason, wasSent: departure.hasHappened)
        }
    }

    private func exchange(_ message: HTTPClientRequest, timeout: Duration) async throws -> APIOutcome {
        let response = try await client.execute(message, timeout: .nanoseconds(Int64(timeout / .nanoseconds(1))))
        let status = Int(response.status.code)
        var body: [UInt8] = []
        for try await part in response.body {
            body += part.readableBytesView
            guard body.count <= maximumResponseBytes else {
                return .oversized(status: status, limit: maximumResponseBytes)
            }
        }
        return .answered(
            APIAnswer(
                status: status, body: body, serverDate: HTTPDate.date(response.headers.first(name: "date")),
                retryAfter: response.headers.first(name: "retry-after")))
    }
}

/// Whether a request's body has been asked for, which happens only on an open connection: before that, the server cannot
/// have the request.
private final class Departure: Sendable {
    private let departed = Atomic(false)

    var hasHappened: Bool { departed.load(ordering: .acquiring) }
    func note() { departed.store(true, ordering: .releasing) }
}

/// A small body that notes when it is first asked for.
private struct DepartingBytes: AsyncSequence, Sendable {
    let bytes: [UInt8]
    let departure: Departure

    struct AsyncIterator: AsyncIteratorProtocol {
        var rest: ArraySlice<UInt8>
        let departure: Departure

        mutating func next() async -> UInt8? {
            departure.note()
            return rest.popFirst()
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(rest: bytes[...], departure: departure) }
}
