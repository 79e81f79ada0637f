import Foundation

/// A run with Apple's API, which answers from before the first notification until after the last.
struct ServedRun: Sendable {
    let simulate: Simulate
    let server: StoreServer
    let host: String
    let port: Int
    let portFile: String?

    /// - Throws: where the address is in use or the file cannot be written, and what ``Simulate/run()`` throws.
    func run() async throws -> Tally {
        try await server.answering(on: host, port: port) { port in
            if let portFile {
                try Data("\(port)\n".utf8).write(to: URL(fileURLWithPath: portFile), options: .atomic)
            }
            // Not before: the address may be in use, and 0 is a port that the system chooses.
            simulate.tell?(
                "The App Store Server API answers on http://\(host):\(port) until Ctrl-C, also after everything was sent"
            )
            return try await simulate.run()
        }
    }
}
