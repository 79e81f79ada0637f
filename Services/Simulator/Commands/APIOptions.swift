import ArgumentParser
import Foundation

/// Apple's other half: the API that is asked, beside the notifications that are sent.
struct APIOptions: ParsableArguments {
    @Option(
        name: .customLong("api-address"),
        help: """
            Answer the App Store Server API there, e.g. 127.0.0.1:8891; port 0 lets the system choose. The environment \
            is the first component of the path: http://127.0.0.1:8891/production or …/sandbox. The run goes on then \
            when everything was sent, until SIGTERM or SIGINT.
            """)
    var address: String?

    @Option(name: .customLong("api-port-file"), help: "File to which the port is written once the API listens.")
    var portFile: String?

    @Option(
        name: .customLong("api-key"),
        help: """
            A key that may ask, as ISSUER:KEYID:FILE with Apple's .p8 file; repeat for several. Default: a key made on \
            first use in --authority, where api-keys.json names it for clients.
            """)
    var keys: [String] = []

    @Option(name: .customLong("api-limit-scale"), help: "Multiplies Apple's limits of requests per second.")
    var limitScale = 1.0

    @Option(name: .customLong("api-token-life"), help: "Seconds until a paginationToken expires.")
    var tokenLife = 3600.0

    @Option(
        name: .customLong("api-remember"),
        help: "Notifications kept for the API per app and environment, about 4 kB each; older ones are forgotten.")
    var remember = 200_000

    @Option(
        name: .customLong("api-fault"),
        help: """
            What is to go wrong from the start, as JSON; repeat for several. {"fault": \
            \(ServerFault.Kind.allCases.map(\.rawValue).joined(separator: "|"))} and if wanted "count", "seconds", \
            "milliseconds", "errorCode", "endpoint". The same is taken by POST /simulator/faults while it runs.
            """)
    var faults: [String] = []

    func validate() throws {
        if let address, Self.parts(of: address) == nil {
            throw ValidationError("--api-address must be like 127.0.0.1:8891, not \(address)")
        }
        if limitScale <= 0 { throw ValidationError("--api-limit-scale must be above 0") }
        if tokenLife <= 0 { throw ValidationError("--api-token-life must be above 0") }
        if remember < 1 { throw ValidationError("--api-remember must be at least 1") }
        // The moment enters their ends only.
        do { _ = try faultList(now: .distantPast) } catch { throw ValidationError("--api-fault: \(error)") }
    }

    func faultList(now: Date) throws -> FaultList {
        FaultList(try faults.map { try ServerFault(json: Array($0.utf8), now: now) })
    }

    /// Host and port; nil where nobody is to be answered.
    var hostAndPort: (host: String, port: Int)? { address.flatMap(Self.parts) }

    private static func parts(of address: String) -> (host: String, port: Int)? {
        guard let colon = address.lastIndex(of: ":"), let port = UInt16(address[address.index(after: colon)...]),
            colon > address.startIndex
        else { return nil }
        return (String(address[..<colon]), Int(port))
    }
}
