import AppStore
import Chassis
import Foundation
import Signatures

/// Checks beside the pipeline whether recently verified certificates have been revoked, and notes the answers.
///
/// An unavailable responder changes nothing in soft mode. In hard mode payloads are rejected from the moment at which its
/// last answer expires.
actor RevocationWatch: Service {
    private let register: RevocationRegister
    private let chains: @Sendable () -> [ValidatedChain]
    private let client: ResponderClient
    private let clock: any Clock<Duration>
    private let now: @Sendable () -> Date
    private let nonce: @Sendable () -> [UInt8]
    private let logger: Logger
    private var schedule: RevocationSchedule
    private var round: Task<Void, Never>?

    /// - Parameters:
    ///   - register: the answers, read by the verifiers.
    ///   - chains: the recently verified ones.
    ///   - clock: waits between two checks.
    ///   - nonce: 16 to 32 random bytes.
    init(
        register: RevocationRegister, chains: @escaping @Sendable () -> [ValidatedChain], client: ResponderClient,
        pace: RevocationSchedule.Pace, clock: any Clock<Duration>, now: @escaping @Sendable () -> Date,
        nonce: @escaping @Sendable () -> [UInt8], logger: Logger
    ) {
        self.register = register
        self.chains = chains
        self.client = client
        self.clock = clock
        self.now = now
        self.nonce = nonce
        self.logger = logger
        schedule = RevocationSchedule(pace: pace)
    }

    func run() async throws {
        await cancelWhenGracefulShutdown { [self, clock] in
            while !Task.isCancelled {
                await look()
                try? await clock.sleep(for: .seconds(2))
            }
        }
        try await client.shutdown()
    }

    /// Checks every certificate that is due; returns when all are answered or given up.
    ///
    /// The pipeline calls it only in hard mode, where a payload under a certificate that was never checked can be neither
    /// forwarded nor rejected.
    func look() async {
        while let running = round { await running.value }
        let task = Task { await askWhatIsDue() }
        round = task
        await task.value
        round = nil
    }

    private func askWhatIsDue() async {
        for fingerprint in schedule.notice(chains(), now: now()) { register.forget(certificate: fingerprint) }
        let due = schedule.due(now: now())
        await withTaskGroup(of: (RevocationSchedule.Question, Result<OCSPAnswer, Unreachable>).self) { group in
            for question in due {
                group.addTask { [client, nonce, now] in
                    (question, await Self.answer(to: question, client: client, nonce: nonce(), now: now))
                }
            }
            for await (question, result) in group { take(result, to: question) }
        }
        for (fingerprint, standing) in schedule.standings(now: now()) {
            register.note(standing, ofCertificate: fingerprint)
        }
        Metric.certificatesRevoked.gauge().record(schedule.revokedCount)
    }

    private static func answer(
        to question: RevocationSchedule.Question, client: ResponderClient, nonce: [UInt8], now: @Sendable () -> Date
    ) async -> Result<OCSPAnswer, Unreachable> {
        do {
            let request = try OCSPRequest(
                about: question.certificate, issuedBy: question.issuer, nonce: nonce)
            let response = try await client.post(request.der, to: question.certificate.ocspAddresses)
            return .success(try request.answer(in: response, now: now()))
        } catch let failure as Unreachable {
            return .failure(failure)
        } catch {
            return .failure(Unreachable("\(error)"))
        }
    }

    private func take(_ result: Result<OCSPAnswer, Unreachable>, to question: RevocationSchedule.Question) {
        let certificate = question.certificate
        let details: Logger.Metadata = [
            "certificate": "\(certificate.subject)", "serial": "\(certificate.serialNumber)",
        ]
        switch result {
        case .success(let answer):
            let effect = schedule.answered(question, answer, now: now())
            Metric.revocationAnswers.counter(effect.label).increment()
            switch (effect, answer.standing) {
            case (.revoked, .revoked(let date, let reason)):
                logger.critical(
                    """
                    A certificate has been REVOKED; what it signed is rejected from now on. Look for forged purchases \
                    since the revocation, and fetch them again from Apple.
                    """, metadata: details.merging(["since": "\(date)", "reason": "\(reason)"]) { $1 })
            case (.unknown, _): logger.warning("The OCSP responder does not know a certificate", metadata: details)
            case (.outdated, _):
                logger.warning("The OCSP responder sent an answer older than the last one", metadata: details)
            default:
                logger.debug(
                    "Checked the revocation of a certificate", metadata: details.merging(["answer": "\(effect)"]) { $1 }
                )
            }
        case .failure(let failure):
            Metric.revocationAnswers.counter("unreachable").increment()
            let failures = schedule.failed(question, now: now())
            // Once per outage. In soft mode a certificate without a responder, like those of development, is no outage.
            let isOutage = register.isHard || !certificate.ocspAddresses.isEmpty
            logger.log(
                level: failures > 1 ? .debug : isOutage ? .warning : .info,
                certificate.ocspAddresses.isEmpty
                    ? "Certificate names no OCSP responder; revocation is not checked"
                    : "Cannot check whether a certificate has been revoked; retrying",
                metadata: details.merging(["error": "\(failure)", "mode": register.isHard ? "hard" : "soft"]) { $1 })
        }
    }
}

extension RevocationSchedule.Effect {
    /// Its name in the metric.
    fileprivate var label: String {
        switch self {
        case .good: "good"
        case .revoked, .stillRevoked: "revoked"
        case .unknown: "unknown"
        case .outdated: "outdated"
        }
    }
}
