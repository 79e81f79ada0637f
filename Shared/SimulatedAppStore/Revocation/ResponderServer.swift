import Foundation
import Hummingbird
import Logging

/// Answers OCSP over HTTP as Apple's responder does: POST to any path.
struct ResponderServer: Sendable {
    /// The body of an answer, and the behavior that goes with it.
    let answer: @Sendable (_ question: [UInt8], _ now: Date) throws -> (ResponderBehavior, [UInt8])
    let now: @Sendable () -> Date

    /// Silent: Hummingbird logs a connection that the caller closes as an error.
    static let logger: Logger = {
        var logger = Logger(label: "simulator.ocsp")
        logger.logLevel = .critical
        return logger
    }()

    /// The server, to be run by the caller.
    /// - Parameter onPort: called with the port, which the system chooses for 0.
    func application(
        host: String, port: Int, onPort: @escaping @Sendable (Int) -> Void
    ) -> some ApplicationProtocol {
        Application(
            router: router, configuration: .init(address: .hostname(host, port: port), serverName: nil),
            onServerRunning: { channel in onPort(channel.localAddress?.port ?? 0) }, logger: Self.logger)
    }

    /// What it answers.
    var router: Router<BasicRequestContext> {
        let router = Router()
        let respond = { @Sendable [answer, now] (request: Request, _: BasicRequestContext) in
            let question = try await request.body.collect(upTo: 64 << 10)
            let (behavior, body) = try answer(Array(question.readableBytesView), now())
            guard behavior != .redirecting else {
                return Response(status: .temporaryRedirect, headers: [.location: request.uri.path + "/elsewhere"])
            }
            return Response(
                status: .ok, headers: [.contentType: "application/ocsp-response"],
                body: .init(byteBuffer: ByteBuffer(bytes: body)))
        }
        // The second matches at least one component.
        router.post("/", use: respond)
        router.post("**", use: respond)
        return router
    }
}
