import Chassis
import Development
import Foundation
import Signatures
import Synchronization

@testable import SimulatedAppStore

/// The simulator's responder on a port of its own, whose behavior and list of revoked certificates a test can change.
final class RunningResponder: Sendable {
    private struct State {
        var behavior = ResponderBehavior.honest
        var revoked = ""
        var questions = 0
    }

    let authority: DevelopmentAuthority
    private let state = Mutex(State())

    private init(authority: DevelopmentAuthority) { self.authority = authority }

    /// Number of requests.
    var questions: Int { state.withLock(\.questions) }

    func behave(_ behavior: ResponderBehavior) { state.withLock { $0.behavior = behavior } }

    func revoke(_ lines: String) { state.withLock { $0.revoked = lines } }

    /// The authority's certificates name the port on which it listens, so the port comes first.
    static func listening(
        now: @escaping @Sendable () -> Date, _ body: @Sendable (RunningResponder) async throws -> Void
    ) async throws {
        let made = Mutex<(RunningResponder, Responder)?>(nil)
        let server = ResponderServer(
            answer: { question, date in
                guard let (running, responder) = made.withLock(\.self) else { return (.busy, []) }
                let (behavior, _) = running.state.withLock { state in
                    state.questions += 1
                    return (state.behavior, state.revoked)
                }
                return (behavior, try responder.answer(to: question, behavior: behavior, now: date))
            }, now: now)
        try await server.router.serving(logger: ResponderServer.logger) { port in
            let authority = try DevelopmentAuthority(now: now(), ocspAddress: "http://127.0.0.1:\(port)/ocsp")
            let running = RunningResponder(authority: authority)
            let responder = try Responder(
                authority: authority, impostor: try DevelopmentAuthority(now: now()),
                list: { running.state.withLock(\.revoked) })
            made.withLock { $0 = (running, responder) }
            try await body(running)
        }
    }
}
