import Chassis
import Foundation
import Hummingbird
import Logging
import NIOCore
import Synchronization

/// A receiver of webhooks, which keeps what was posted and answers as the test says.
final class HookReceiver: Sendable {
    struct Request: Sendable {
        var path: String
        var headers: [String: String]
        var body: [UInt8]

        var id: String { headers["webhook-id"] ?? "" }
        var isTest: Bool { String(decoding: body, as: UTF8.self).contains("webhook.test") }
        var isNotice: Bool { String(decoding: body, as: UTF8.self).contains("webhook.disabled") }
    }

    struct Answer: Sendable {
        var status: HTTPResponse.Status = .ok
        var headers: HTTPFields = [:]
        var body = ""
    }

    private let requests = Mutex<[Request]>([])
    private let answer: @Sendable (Int, Request) async -> Answer
    private let arrivals: AsyncStream<Int>
    private let arrived: AsyncStream<Int>.Continuation

    private init(_ answer: @escaping @Sendable (Int, Request) async -> Answer) {
        self.answer = answer
        (arrivals, arrived) = AsyncStream.makeStream()
    }

    var all: [Request] { requests.withLock { $0 } }

    /// Returns when so many requests have arrived since the start. Called by one task only.
    func wait(for count: Int) async {
        guard all.count < count else { return }
        for await number in arrivals where number >= count { return }
    }

    /// Runs a server while the body runs.
    /// - Parameter answer: given the number of the request, from 1, and the request.
    static func listening<Outcome: Sendable>(
        answering answer: @escaping @Sendable (Int, Request) async -> Answer = { _, _ in Answer() },
        _ body: @Sendable (HookReceiver, _ port: Int) async throws -> Outcome
    ) async throws -> Outcome {
        let receiver = HookReceiver(answer)
        let router = Router()
        let handle: @Sendable (Hummingbird.Request, BasicRequestContext) async throws -> Response = { request, _ in
            let content = try await request.body.collect(upTo: 1 << 20)
            let headers = Dictionary(
                request.headers.map { ($0.name.rawName.lowercased(), $0.value) }, uniquingKeysWith: { $1 }
            )
            .merging(["host": request.head.authority ?? ""]) { own, _ in own }
            let answer = await receiver.receive(
                Request(path: request.uri.path, headers: headers, body: Array(content.readableBytesView)))
            return Response(
                status: answer.status, headers: answer.headers, body: .init(byteBuffer: ByteBuffer(string: answer.body))
            )
        }
        router.post("/", use: handle)
        router.post("**", use: handle)
        var logger = Logger(label: "receiver")
        logger.logLevel = .critical
        return try await router.serving(logger: logger) { port in try await body(receiver, port) }
    }

    private func receive(_ request: Request) async -> Answer {
        let number = requests.withLock {
            $0.append(request)
            return $0.count
        }
        defer { arrived.yield(number) }
        return await answer(number, request)
    }
}
