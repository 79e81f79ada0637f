import Chassis
import Foundation
import Hummingbird
import Logging
import Synchronization

/// An HTTP server of a test, which keeps what was posted and answers as the test says.
final class Receiver: Sendable {
    struct Request: Sendable {
        var body: [UInt8]
        var contentType: String?
    }

    struct Upload: Sendable {
        var body: [UInt8]
        var authorization: String?
        /// Notifications that had arrived before.
        var requestsBefore: Int
    }

    private struct State {
        var requests: [Request] = []
        var uploads: [Upload] = []
        var questions = 0
        var requestsBeforeRoom = 0
    }

    private let answer: @Sendable (Int, Request) -> HTTPResponse.Status
    private let waiting: @Sendable (Int) -> Int
    private let state = Mutex(State())
    private let arrivals: AsyncStream<Int>
    private let arrived: AsyncStream<Int>.Continuation

    /// - Parameters:
    ///   - answer: given the number of the request, from 1, and the request.
    ///   - waiting: the answer of the backlog page, given the number of the request, from 1.
    private init(
        answer: @escaping @Sendable (Int, Request) -> HTTPResponse.Status, waiting: @escaping @Sendable (Int) -> Int
    ) {
        self.answer = answer
        self.waiting = waiting
        (arrivals, arrived) = AsyncStream.makeStream()
    }

    var requests: [Request] { state.withLock { $0.requests } }

    var uploads: [Upload] { state.withLock { $0.uploads } }

    /// How many notifications had arrived when the backlog was last full.
    var requestsBeforeRoom: Int { state.withLock { $0.requestsBeforeRoom } }

    /// Returns when so many requests have arrived since the start. Called by one task only.
    func wait(for count: Int) async {
        guard requests.count < count else { return }
        for await number in arrivals where number >= count { return }
    }

    /// Runs a server while the body runs.
    static func listening<Outcome: Sendable>(
        answering answer: @escaping @Sendable (Int, Request) -> HTTPResponse.Status = { _, _ in .ok },
        waiting: @escaping @Sendable (Int) -> Int = { _ in 0 },
        _ body: @Sendable (Receiver, _ address: String) async throws -> Outcome
    ) async throws -> Outcome {
        let receiver = Receiver(answer: answer, waiting: waiting)
        let router = Router()
        router.post("/v1/notifications") { request, _ in
            let content = try await request.body.collect(upTo: 1 << 20)
            return receiver.receive(
                Request(body: Array(content.readableBytesView), contentType: request.headers[.contentType]))
        }
        router.post("/v1/transactions") { request, _ in
            let content = try await request.body.collect(upTo: 1 << 20)
            receiver.upload(Array(content.readableBytesView), authorization: request.headers[.authorization])
            return HTTPResponse.Status.ok
        }
        router.get("/backlog") { _, _ in #"{"waiting": \#(receiver.asked())}"# }
        var logger = Logger(label: "receiver")
        logger.logLevel = .critical
        return try await router.serving(logger: logger) { port in
            try await body(receiver, "http://127.0.0.1:\(port)")
        }
    }

    private func receive(_ request: Request) -> HTTPResponse.Status {
        let number = state.withLock {
            $0.requests.append(request)
            return $0.requests.count
        }
        defer { arrived.yield(number) }
        return answer(number, request)
    }

    private func upload(_ body: [UInt8], authorization: String?) {
        state.withLock {
            let upload = Upload(body: body, authorization: authorization, requestsBefore: $0.requests.count)
            $0.uploads.append(upload)
        }
    }

    private func asked() -> Int {
        state.withLock {
            $0.questions += 1
            let waiting = waiting($0.questions)
            if waiting >= 4_000 { $0.requestsBeforeRoom = $0.requests.count }
            return waiting
        }
    }
}
