import ArgumentParser
import AsyncHTTPClient

/// Requests of the client that sends webhooks with nothing around it: a client for each receiver, configured as the service
/// configures its own. Prints how many were answered with 2xx in a second.
struct Post: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "post")

    @Option(help: "Port on 127.0.0.1.")
    var port: UInt16
    @Option(help: "Number of receivers, each a path.")
    var receivers = 20
    @Option(help: "Number of requests at a time.")
    var requests = 64
    @Option(help: "Duration, seconds.")
    var seconds = 10.0
    @Option(help: "Bytes of a body.")
    var bytes = 600

    private struct Refused: Error { var status: UInt }

    func run() async throws {
        var configuration = HTTPClient.Configuration()
        configuration.redirectConfiguration = .disallow
        configuration.httpVersion = .http1Only
        configuration.decompression = .disabled
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 10
        let clients = (0..<receivers).map { _ in
            HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        }
        let (start, limit) = (ContinuousClock.now, Duration.seconds(seconds))
        let answered = try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<requests {
                let (client, receiver) = (clients[number % receivers], number % receivers)
                group.addTask { try await post(to: receiver, over: client, until: start.advanced(by: limit)) }
            }
            return try await group.reduce(0, +)
        }
        let elapsed = start.duration(to: .now)
        for client in clients { try await client.shutdown() }
        print(Double(answered) / (elapsed / .seconds(1)))
    }

    /// Returns the number of answers.
    private func post(to receiver: Int, over client: HTTPClient, until end: ContinuousClock.Instant) async throws -> Int
    {
        let body = [UInt8](repeating: UInt8(ascii: "x"), count: bytes)
        var answered = 0
        while ContinuousClock.now < end {
            var request = HTTPClientRequest(url: "http://127.0.0.1:\(port)/hook/\(receiver)")
            request.method = .POST
            // As long as those of a delivery.
            request.headers.add(name: "webhook-id", value: "5b1b2f6e-3c6e-4d5e-9a55-0f6f6f6d1b11/2000000123456789")
            request.headers.add(name: "webhook-timestamp", value: "1765000001")
            request.headers.add(name: "webhook-signature", value: "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
            request.headers.add(name: "content-type", value: "application/json")
            request.headers.add(name: "user-agent", value: "Storekeeper/1.0.0")
            request.headers.add(name: "storekeeper-cursor", value: "48151")
            request.body = .bytes(body)
            let response = try await client.execute(request, timeout: .seconds(15))
            guard 200...299 ~= response.status.code else { throw Refused(status: response.status.code) }
            for try await _ in response.body {}
            answered += 1
        }
        return answered
    }
}
