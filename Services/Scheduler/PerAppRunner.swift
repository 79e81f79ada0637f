import Chassis
import Storage

/// Runs the same work for each app. A failure for one app does not stop the others and is thrown at the end.
struct PerAppRunner {
    /// Name for logs.
    let job: String
    let logger: Logger
    private(set) var failed: [CoverageStore.App] = []

    init(_ job: String, logger: Logger) {
        self.job = job
        self.logger = logger
    }

    /// - Throws: on shutdown only.
    mutating func attempt(
        _ app: CoverageStore.App, isolation: isolated (any Actor)? = #isolation, _ work: () async throws -> Void
    ) async throws(CancellationError) {
        do {
            try await work()
        } catch {
            guard !Task.isCancelled, !(error is CancellationError) else { throw CancellationError() }
            failed.append(app)
            logger.warning(
                "Job failed for app; retrying",
                metadata: [
                    "job": "\(job)", "app": "\(app.bundleId)", "environment": "\(app.environment.rawValue)",
                    "error": "\(error)",
                ])
        }
    }

    /// Call after the last app.
    func throwIfAnyFailed() throws(AppsFailed) {
        guard failed.isEmpty else { throw AppsFailed(apps: failed) }
    }
}

/// The work failed for these apps and succeeded for all others.
struct AppsFailed: Error, CustomStringConvertible {
    let apps: [CoverageStore.App]

    var description: String {
        let names = Set(apps.map { "\($0.bundleId) in \($0.environment.rawValue)" }).sorted()
        return "failed for \(names.joined(separator: ", ")) (errors logged above); succeeded for all other apps"
    }
}
