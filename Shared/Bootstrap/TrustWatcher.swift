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
    private let current: Mutex<(verifier: SignedDataVerifier, settings: TrustSettings)>
    private let files: WatchedFiles

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
        files = WatchedFiles([apps] + roots)
        let trusted = try TrustSettings(apps: apps, roots: roots, developmentMode: developmentMode)
        current = Mutex(
            (SignedDataVerifier(trust: trusted.trust, apps: trusted.apps, revocations: revocations), trusted))
        guard developmentMode else { return }
        logger.warning(
            "DEVELOPMENT MODE: free test purchases are accepted. Never run this in production.",
            metadata: ["roots": "\(roots)"])
    }

    /// Of the last valid content of the files.
    package var verifier: SignedDataVerifier { trusted.verifier }

    /// Of the last valid content of the file.
    package var apps: AppRegistry { trusted.settings.apps }

    /// Both of one moment.
    package var trusted: (verifier: SignedDataVerifier, settings: TrustSettings) { current.withLock { $0 } }

    package func run() async throws {
        await cancelWhenGracefulShutdown { [self] in
            while !Task.isCancelled {
                try? await clock.sleep(for: .seconds(2))
                reloadIfChanged()
            }
        }
    }

    /// May be called by several; one of them reloads.
    package func reloadIfChanged() {
        if files.haveChanged() { reload() }
    }

    private func reload() {
        do throws(ConfigurationProblems) {
            let trusted = try TrustSettings(apps: appsFile, roots: roots, developmentMode: developmentMode)
            let verifier = SignedDataVerifier(trust: trusted.trust, apps: trusted.apps, revocations: revocations)
            current.withLock { $0 = (verifier, trusted) }
            logger.reloaded("roots and apps")
        } catch {
            logger.kept("roots and apps", because: error)
        }
    }
}
