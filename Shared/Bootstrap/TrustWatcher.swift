import AppStore
import Bootstrap
import Chassis
import Foundation
import Synchronization

/// The verifier of the moment. Looks at the files of roots and apps every few seconds and takes over what changed.
///
/// A file with a mistake changes nothing: the line goes on with what was right before, and the log says what is wrong.
final class Reloading: Service {
    private let settings: Settings<Configuration>
    private let clock: any Clock<Duration>
    private let logger: Logger
    private let revocations: RevocationRegister
    private let current: Mutex<SignedDataVerifier>
    /// Of the files before they were read first: a change in between is noticed.
    private let firstSeen: [String]

    /// - Parameter revocations: outlives every verifier that is made here.
    /// - Throws: `ConfigurationProblems` with all that is wrong in the files.
    init(
        _ settings: Settings<Configuration>, revocations: RevocationRegister = RevocationRegister(), logger: Logger,
        clock: any Clock<Duration> = ContinuousClock()
    ) throws {
        self.settings = settings
        self.revocations = revocations
        self.logger = logger
        self.clock = clock
        firstSeen = Self.fingerprint(of: settings)
        current = Mutex(Self.verifier(try settings.trusted(), revocations))
        guard settings.developmentMode else { return }
        logger.warning(
            "DEVELOPMENT MODE: purchases that cost nothing are believed. Never run this in production.",
            metadata: ["roots": "\(settings.roots ?? [])"])
    }

    var verifier: SignedDataVerifier { current.withLock { $0 } }

    func run() async throws {
        await cancelWhenGracefulShutdown { [self] in
            var seen = firstSeen
            while !Task.isCancelled {
                try? await clock.sleep(for: .seconds(2))
                let found = Self.fingerprint(of: settings)
                if found != seen { reload() }
                seen = found
            }
        }
    }

    private func reload() {
        do throws(ConfigurationProblems) {
            let verifier = Self.verifier(try settings.trusted(), revocations)
            current.withLock { $0 = verifier }
            Metric.trustReloads.counter("used").increment()
            logger.notice("Roots and apps read anew")
        } catch {
            Metric.trustReloads.counter("unusable").increment()
            logger.error("The files of roots or apps changed and cannot be used; the former content stays: \(error)")
        }
    }

    /// Changes whenever a file does, whether it was written in place or replaced.
    private static func fingerprint(of settings: Settings<Configuration>) -> [String] {
        ([settings.apps] + (settings.roots ?? [])).map { file in
            let attributes = (try? FileManager.default.attributesOfItem(atPath: file)) ?? [:]
            let parts: [Any?] = [
                attributes[.modificationDate].map { ($0 as? Date)?.timeIntervalSince1970 ?? 0 },
                attributes[.size], attributes[.systemFileNumber],
            ]
            return parts.map { "\($0 ?? "")" }.joined(separator: "/")
        }
    }

    private static func verifier(_ trusted: TrustSettings, _ revocations: RevocationRegister) -> SignedDataVerifier {
        SignedDataVerifier(trust: trusted.trust, apps: trusted.apps, revocations: revocations)
    }
}
