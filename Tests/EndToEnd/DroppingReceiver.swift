import AsyncHTTPClient
import Chassis
import Commands
import Hummingbird
import Logging
import Synchronization

@testable import Devkit

/// Stands before ingest as a load balancer does, and has a fault: of some notifications it says 200 and forgets them.
/// Where ingest is away it says 502, as load balancers do.
final class DroppingReceiver: Sendable {
    private struct State {
        var posted = 0
        var dropped = 0
    }

    private let target: String
    private let oneIn: Int
    private let state = Mutex(State())

    /// - Parameters:
    ///   - target: where the others are handed on to.
    ///   - oneIn: every so manieth is dropped; 0 drops none.
    init(before target: String, droppingOneIn oneIn: Int) {
        self.target = target
        self.oneIn = oneIn
    }

    var dropped: Int { state.withLock { $0.dropped } }

    /// Serves until cancelled.
    /// - Parameter onTarget: called with the address that Apple is to post to.
    func run(onTarget: @escaping @Sendable (String) -> Void) async throws {
        let router = Router()
        router.post("v1/notifications") { [self] request, _ in
            let body = try await request.body.collect(upTo: 1 << 20)
            let isDropped = state.withLock { state in
                state.posted += 1
                guard oneIn > 0, state.posted % oneIn == 0 else { return false }
                state.dropped += 1
                return true
            }
            return isDropped ? Response(status: .ok) : try await handOn(body)
        }
        try await router.serving(logger: .silent) { port in
            onTarget("http://127.0.0.1:\(port)/v1/notifications")
            try await gracefulShutdown()
        }
    }

    private func handOn(_ body: ByteBuffer) async throws -> Response {
        var onward = HTTPClientRequest(url: target)
        onward.method = .POST
        onward.headers.add(name: "content-type", value: "application/json")
        onward.body = .bytes(body)
        // Shorter than the simulator's 5 s: what it gives up must not arrive later, when ingest is back.
        guard let answer = try? await HTTPClient.shared.execute(onward, timeout: .seconds(4)) else {
            return Response(status: .badGateway)
        }
        return Response(status: .init(code: Int(answer.status.code)))
    }
}
