import ArgumentParser
import Foundation
import Hummingbird

/// `simulator ocsp`: an OCSP responder for the certificates of the authority.
struct OCSPCommand: SimulatorWork {
    static let configuration = CommandConfiguration(
        commandName: "ocsp", abstract: "Run an OCSP responder for the signing certificates.",
        discussion: """
            The certificates must name the address: create the authority with --ocsp-url, here or in `run`. Each request \
            reads the list of revoked certificates; a line is leaf, intermediate or a serial number in hexadecimal. Runs \
            until SIGTERM or SIGINT.

            Example: simulator ocsp --authority authority --ocsp-url http://127.0.0.1:8890/ --revoked revoked.txt
            """)

    @Option(help: "Address to listen on.")
    var host = "127.0.0.1"

    @Option(help: "Port to listen on; 0 for a free one, printed on standard output.")
    var port = 8890

    @Option(help: "File that lists revoked certificates.")
    var revoked: String?

    @Option(
        help: """
            Behavior: honest; ignorant knows no certificate; expired answers are too old; impostor signs with a key of \
            its own; forgetful leaves out the nonce; busy answers tryLater; redirecting; endless answers are oversized; \
            babbling sends no OCSP.
            """)
    var behavior = ResponderBehavior.honest

    @OptionGroup(title: "The signatures")
    var signing: SigningOptions

    func run(in context: CommandContext) async throws {
        let now = context.now()
        let file = revoked
        let responder = try Responder(
            authority: try signing.developmentAuthority(now: now), impostor: try .init(now: now),
            list: { file.flatMap { try? String(contentsOfFile: $0, encoding: .utf8) } ?? "" })
        let behavior = behavior
        let server = ResponderServer(
            answer: { (behavior, try responder.answer(to: $0, behavior: behavior, now: $1)) }, now: context.now)
        let application = server.application(host: host, port: port) { [host] port in
            try? FileHandle.standardOutput.write(contentsOf: Data("http://\(host):\(port)/\n".utf8))
        }
        try await application.runService()
    }
}

extension ResponderBehavior: ExpressibleByArgument {}
