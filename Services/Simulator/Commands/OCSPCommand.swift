import ArgumentParser
import Foundation
import Hummingbird

/// `simulator ocsp`: answers whether the authority's certificates are revoked.
struct OCSPCommand: SimulatorWork {
    static let configuration = CommandConfiguration(
        commandName: "ocsp", abstract: "Answer questions about the revocation of the authority's certificates.",
        discussion: """
            The certificates must say where: make the authority with --ocsp-url, here or in `run`. The list of revoked \
            certificates is read at every question; each line is leaf, intermediate or a serial number in hexadecimal. \
            Runs until SIGTERM or SIGINT.
            """)

    @Option(help: "Where to listen.")
    var host = "127.0.0.1"

    @Option(help: "Port to listen on; 0 lets the system choose, and the line on standard output says which.")
    var port = 8890

    @Option(help: "File with the revoked certificates.")
    var revoked: String?

    @Option(help: "How to behave: \(ResponderBehavior.allCases.map(\.rawValue).joined(separator: ", ")).")
    var behavior = ResponderBehavior.honest

    @OptionGroup(title: "The signatures")
    var signing: SigningOptions

    func run(in surroundings: Surroundings) async throws {
        let now = surroundings.now()
        let file = revoked
        let responder = try Responder(
            authority: try signing.developmentAuthority(now: now), impostor: try .init(now: now),
            list: { file.flatMap { try? String(contentsOfFile: $0, encoding: .utf8) } ?? "" })
        let behavior = behavior
        let server = ResponderServer(
            answer: { (behavior, try responder.answer(to: $0, behavior: behavior, now: $1)) }, now: surroundings.now)
        let application = server.application(host: host, port: port) { [host] port in
            try? FileHandle.standardOutput.write(contentsOf: Data("http://\(host):\(port)/\n".utf8))
        }
        try await application.runService()
    }
}

extension ResponderBehavior: ExpressibleByArgument {}
