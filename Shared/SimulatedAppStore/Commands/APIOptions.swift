import ArgumentParser
import Foundation

/// The simulated App Store Server API.
struct APIOptions: ParsableArguments {
    @Option(
        name: .customLong("api-address"),
        help: """
            Address of the App Store Server API, e.g. 127.0.0.1:8891; port 0 for a free one. The first component of the \
            path is the environment: http://127.0.0.1:8891/production or …/sandbox. The run then continues after \
            everything was sent, until SIGTERM or SIGINT.
            """)
    var address: String?

    @Option(name: .customLong("api-port-file"), help: "File to write the port to once the API listens.")
    var portFile: String?

    @Option(
        name: .customLong("api-key"),
        help: """
            Accepted key as ISSUER:KEYID:FILE with Apple's .p8 file; repeat for several. Default: a key created in \
            --authority on first use, where api-keys.json names it for clients.
            """)
    var keys: [String] = []

    @Option(name: .customLong("api-limit-scale"), help: "Factor for Apple's limits of requests per second.")
    var limitScale = 1.0

    @Option(name: .customLong("api-token-life"), help: "Lifetime of a paginationToken, seconds.")
    var tokenLife = 3600.0

    @Option(
        name: .customLong("api-remember"),
        help: "Maximum number of notifications kept for the API per app and environment, about 4 kB each.")
    var remember = 200_000

    @Option(
        name: .customLong("api-fault"),
        help: """
            Fault from the start, as JSON; repeat for several. {"fault": \
            \(ServerFault.Kind.allCases.map(\.rawValue).joined(separator: "|"))}, optionally "count", "seconds", \
            "milliseconds", "errorCode", "endpoint". POST /simulator/faults adds one to a run.
            """)
    var faults: [String] = []

    func validate() throws {
        if let address, Self.parts(of: address) == nil {
            throw ValidationError("--api-address must be like 127.0.0.1:8891, not \(address)")
        }
        if limitScale <= 0 { throw ValidationError("--api-limit-scale must be above 0") }
        if tokenLife <= 0 { throw ValidationError("--api-token-life must be above 0") }
        if remember < 1 { throw ValidationError("--api-remember must be at least 1") }
        // Only the ends of faults depend on it.
        do { _ = try faultList(now: .distantPast) } catch { throw ValidationError("--api-fault: \(error)") }
    }

    func faultList(now: Date) throws -> FaultList {
        FaultList(try faults.map { try ServerFault(json: Array($0.utf8), now: now) })
    }

    /// Host and port; nil without an API.
    var hostAndPort: (host: String, port: Int)? { address.flatMap(Self.parts) }

    private static func parts(of address: String) -> (host: String, port: Int)? {
        guard let colon = address.lastIndex(of: ":"), let port = UInt16(address[address.index(after: colon)...]),
            colon > address.startIndex
        else { return nil }
        return (String(address[..<colon]), Int(port))
    }
}
