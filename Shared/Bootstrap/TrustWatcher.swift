import AppStore
import Chassis
import Foundation
import Synchronization

/// The current verifier. Checks the files of roots and apps every few seconds and applies changes.
///
/// A file with a mistake changes nothing: the former content stays in effect, and the log has the problem.
package final class TrustWatcher: Service {
    private let appsFile: String
    private let roots: [String]
    private let developmentMode: Bool
    private let clock: any Clock<Duration>
    private let logger: Logger
    private let revocations: RevocationRegister
    private let current: Mutex<(verifier: SignedDataVerifier, apps: AppRegistry)>
    /// Taken before the first read: a change in between is noticed.
    private let firstSeen: [String]

    /// - Parameters:
    ///   - apps: the value of `STOREKEEPER_APPS_FILE`.
    ///   - roots: the values of `STOREKEEPER_ROOT_FILES`.
    ///   - revocations: shared by all verifiers that are created here.
    /// - Throws: `ConfigurationProblems` with all problems of the files.
    package init(
        apps: String, roots: [String], developmentMode: Bool, revocations: RevocationRegister = RevocationRegister(),
        logger: Logger, clock: any Clock<Duration> = ContinuousClock()
    ) throws {
        appsFile = apps
        self.roots = roots
        self.developmentMode = developmentMode
        self.revocations = revocations
        self.logger = logger
        self.clock = clock
        firstSeen = Self.fingerprint(of: [apps] + roots)
        let trusted = try TrustSettings(apps: apps, roots: roots, developmentMode: developmentMode)
        current = Mutex(
            (
                SignedDataVerifier(trust: trusted.trust, apps: trusted.apps, revocations: revocations), trusted.apps
            ))
        guard developmentMode else { return }
        logger.warning(
            "DEVELOPMENT MODE: free test purchases are accepted. Never run this in production.",
            metadata: ["roots": "\(roots)"])
    }

    /// Of the last valid content of the files.
    package var verifier: SignedDataVerifier { current.withLock { $0.verifier } }

    /// Of the last valid content of the file.
    package var apps: AppRegistry { current.withLock { $0.apps } }

    package func run() async throws {
        await cancelWhenGracefulShutdown { [self] in
            var seen = firstSeen
            while !Task.isCancelled {
                try? await clock.sleep(for: .seconds(2))
                let found = Self.fingerprint(of: [appsFile] + roots)
                if found != seen { reload() }
                seen = found
            }
        }
    }

    private func reload() {
        do throws(ConfigurationProblems) {
            let trusted = try TrustSettings(apps: appsFile, roots: roots, developmentMode: developmentMode)
            let verifier = SignedDataVerifier(trust: trusted.trust, apps: trusted.apps, revocations: revocations)
            current.withLock { $0 = (verifier, trusted.apps) }
            Metric.trustReloads.counter("used").increment()
            logger.notice("Roots and apps reloaded")
        } catch {
            Metric.trustReloads.counter("unusable").increment()
            logger.error("Changed files of roots or apps are invalid; keeping the former content: \(error)")
        }
    }

    /// Changes whenever a file does, whether it was written in place or replaced.
    private static func fingerprint(of files: [String]) -> [String] {
        files.map { file in
            let attributes = (try? FileManager.default.attributesOfItem(atPath: file)) ?? [:]
            let parts: [Any?] = [
                attributes[.modificationDate].map { ($0 as? Date)?.timeIntervalSince1970 ?? 0 },
                attributes[.size], attributes[.systemFileNumber],
            ]
            return parts.map { "\($0 ?? "")" }.joined(separator: "/")
        }
    }
}
