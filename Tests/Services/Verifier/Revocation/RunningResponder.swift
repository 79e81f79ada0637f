import Development
import Foundation
import Hummingbird
import ServiceLifecycle
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
        let (addresses, found) = AsyncStream<Int>.makeStream()
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
        try await withThrowingTaskGroup(of: Void.self) { group in
            let application = server.application(host: "127.0.0.1", port: 0) { found.yield($0) }
            var configuration = ServiceGroupConfiguration(services: [application], logger: application.logger)
            // For answers that never end.
            configuration.maximumGracefulShutdownDuration = .seconds(2)
            let services = ServiceGroup(configuration: configuration)
            group.addTask { try await services.run() }
            for await port in addresses.prefix(1) {
                let authority = try DevelopmentAuthority(now: now(), ocspAddress: "http://127.0.0.1:\(port)/ocsp")
                let running = RunningResponder(authority: authority)
                let responder = try Responder(
                    authority: authority, impostor: try DevelopmentAuthority(now: now()),
                    list: { running.state.withLock(\.revoked) })
                made.withLock { $0 = (running, responder) }
                try await body(running)
            }
            // NIO ends the process where a server is cancelled while it accepts a connection.
            await services.triggerGracefulShutdown()
        }
    }
}
