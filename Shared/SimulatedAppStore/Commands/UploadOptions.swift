import ArgumentParser
import Contracts

/// Simulated apps that upload their transactions.
struct UploadOptions: ParsableArguments {
    @Option(
        name: .customLong("upload-url"),
        help: """
            URL to which simulated apps post the signed transactions of purchases, e.g. \
            http://127.0.0.1:8081/v1/transactions
            """)
    var url: String?

    @Option(
        name: .customLong("upload-key"),
        help: """
            Bearer token of uploads as ENVIRONMENT:TOKEN, such as Sandbox:sk_test_…; repeat for several. Environments \
            without one upload nothing then. Default: none is sent.
            """)
    var keys: [String] = []

    @Option(name: .customLong("upload-share"), help: "Share of purchases that are uploaded, 0 to 1.")
    var share = 0.5

    @Option(
        name: .customLong("upload-moment"),
        help: """
            When to upload: before or after the notification, or instead of it, where Apple sends none. Default: any of them.
            """)
    var moment: UploadPlan.Moment?

    func validate() throws {
        if let url { try Target.validate(url, as: "--upload-url") }
        if !(0...1).contains(share) { throw ValidationError("--upload-share must lie between 0 and 1") }
        _ = try tokens()
    }

    /// Nil where nothing is uploaded.
    var plan: UploadPlan? { url.map { _ in UploadPlan(share: share, moment: moment) } }

    func tokens() throws -> [StoreEnvironment: String] {
        var tokens: [StoreEnvironment: String] = [:]
        for key in keys {
            let parts = key.split(separator: ":", maxSplits: 1).map(String.init)
            guard parts.count == 2, let environment = StoreEnvironment(rawValue: parts[0]) else {
                throw ValidationError("--upload-key must be ENVIRONMENT:TOKEN, such as Sandbox:sk_test_…")
            }
            tokens[environment] = parts[1]
        }
        return tokens
    }
}

extension UploadPlan.Moment: ExpressibleByArgument {}
