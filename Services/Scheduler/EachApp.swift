import Chassis
import Storage

/// The same work for one app after the other. What fails for one keeps no other waiting, and is told when all had their
/// turn.
struct EachApp {
    /// In logs.
    let job: String
    let logger: Logger
    private(set) var failed: [CoverageStore.App] = []

    init(_ job: String, logger: Logger) {
        self.job = job
        self.logger = logger
    }

    /// - Throws: only where the process is told to stop.
    mutating func attempt(
        _ app: CoverageStore.App, isolation: isolated (any Actor)? = #isolation, _ work: () async throws -> Void
    ) async throws(CancellationError) {
        do {
            try await work()
        } catch {
            guard !Task.isCancelled, !(error is CancellationError) else { throw CancellationError() }
            failed.append(app)
            logger.warning(
                "It failed for one app",
                metadata: [
                    "job": "\(job)", "app": "\(app.bundleId)", "environment": "\(app.environment.rawValue)",
                    "error": "\(error)",
                ])
        }
    }

    /// To be called at the end of a turn.
    func tell() throws(AppsFailed) {
        guard failed.isEmpty else { throw AppsFailed(apps: failed) }
    }
}

/// Some apps had no turn that counts; those that are not named had.
struct AppsFailed: Error, CustomStringConvertible {
    let apps: [CoverageStore.App]

    var description: String {
        let names = Set(apps.map { "\($0.bundleId) in \($0.environment.rawValue)" }).sorted()
        return "it failed for \(names.joined(separator: ", ")), as the lines before say; the other apps had their turn"
    }
}
