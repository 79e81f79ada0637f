import AsyncHTTPClient
import Foundation
import NIOCore

/// The URL that receives notifications, as a developer enters it in App Store Connect.
struct Target: Sendable {
    private let client: HTTPClient
    private let url: String
    private let timeout: Duration
    private let clock = ContinuousClock()

    init(client: HTTPClient, url: String, timeout: Duration) {
        self.client = client
        self.url = url
        self.timeout = timeout
    }

    /// A client that keeps as many connections as there are deliveries at once.
    static func client(concurrency: Int) -> HTTPClient {
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = max(concurrency, 8)
        // The client does not retry: Apple's retries must all be in the record.
        configuration.connectionPool.retryConnectionEstablishment = false
        // Before the receiver does: ingest closes a connection that was idle for 10 s, perhaps while a request is on its way.
        configuration.connectionPool.idleTimeout = .seconds(5)
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    /// Posts a request body as Apple does. A failure is an answer, too.
    func post(
        _ body: [UInt8],
        headers: [(String, String)] = [("user-agent", "App Store Server Notifications/2.0 (simulator)")]
    ) async -> Answer {
        var request = HTTPClientRequest(url: url)
        request.method = .POST
        request.headers.add(name: "content-type", value: "application/json; charset=UTF-8")
        for (name, value) in headers { request.headers.add(name: name, value: value) }
        request.body = .bytes(body)
        let start = clock.now
        do {
            let response = try await client.execute(request, timeout: .nanoseconds(timeout.nanoseconds))
            for try await _ in response.body {}
            return Answer(status: Int(response.status.code), duration: clock.now - start)
        } catch {
            return Answer(failure: Self.meaning(of: error).rawValue, duration: clock.now - start)
        }
    }

    /// The one place that decides how the record calls a failed delivery.
    private static func meaning(of error: any Error) -> Answer.Failure {
        // A connection that was there; a refused one is an IOError, too.
        if let error = error as? IOError, [ECONNRESET, EPIPE].contains(error.errnoCode) { return .closedBeforeAnswer }
        return switch error as? HTTPClientError {
        case .deadlineExceeded?, .readTimeout?, .writeTimeout?: .timedOut
        case .connectTimeout?, .getConnectionFromPoolTimeout?: .connectTimedOut
        case .remoteConnectionClosed?: .closedBeforeAnswer
        default: .noConnection
        }
    }
}

extension Duration {
    fileprivate var nanoseconds: Int64 { components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000 }
}
