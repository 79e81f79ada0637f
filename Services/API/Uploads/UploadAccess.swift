import AppStore
import Bootstrap
import Chassis
import Contracts
import Kafka
import Operations
import Pipeline
import Postgres
import ServerAPI
import Signatures

import struct Foundation.UUID

/// What uploads are served with, from the configuration. Without the file of apps nothing can be proven: then everything else
/// is answered, and uploads are answered 503.
struct UploadAccess: Sendable {
    let services: UploadServices
    /// In the order of their dependencies.
    let all: [any Service]

    /// The app waits for the answer: what Kafka does not confirm in this time is sent again by the app.
    private static let confirmation = Duration.seconds(5)

    init(_ context: ServiceContext<Configuration>, lane: WorkLane) throws {
        let settings = context.settings
        let rejections = RateLimiter<UUID>(quota: settings.rejectionLimit)
        let questions = QuestionBudget<UUID>(share: settings.apiLimitShare)
        guard let apps = settings.apps else {
            context.logger.notice(
                "STOREKEEPER_APPS_FILE is not set; uploads and offers are answered 503, all else runs")
            services = UploadServices(
                verifier: { SignedDataVerifier(trust: TrustStore(), apps: AppRegistry(apps: [])) },
                record: { _ in throw Problem(.unavailable, "Uploads need STOREKEEPER_APPS_FILE; ask the operator.") },
                apple: nil, rejections: rejections, questions: questions, lane: lane)
            all = []
            return
        }
        let watcher = try TrustWatcher(
            apps: apps, roots: settings.roots ?? [], developmentMode: settings.developmentMode, logger: context.logger)
        let producer = try ProducerService(
            try settings.kafka(), for: .api, of: Topics.plan, messageTimeout: Self.confirmation, logger: context.logger)
        let apple = try settings.apiKeys.map { keys in
            let clock = APIClock(now: context.clock.now, random: { .random(in: 0..<1) })
            return try AppleAPI(
                watcher, keys: keys, url: settings.apiURL, developmentMode: settings.developmentMode, clock: clock,
                limits: SharedAPILimits.each(
                    PostgresConnection(settings.postgres(for: "api"), logger: context.logger),
                    share: settings.apiLimitShare, urgency: .interactive, clock: clock, logger: context.logger))
        }
        services = UploadServices(
            verifier: { watcher.verifier },
            // Returns when all replicas in sync have all of them.
            record: { try await producer.producer.send($0.map { ProducerRecord(Topics.received, $0) }) },
            apple: apple?.clients, verifyReceipt: Self.verifyReceipt(settings),
            setsAccountTokens: settings.setsAccountTokens, needsOfferRule: !settings.signsOffersWithoutRule,
            claimAge: settings.claimAge / .seconds(1), rejections: rejections, questions: questions,
            lane: lane)
        all =
            (apple.map { [$0] } ?? []) + [
                watcher, producer,
                // So that the first upload need not wait. While Kafka is away the API answers everything else.
                WarmUp(producer: producer.producer) { [logger = context.logger] error in
                    logger.warning("Kafka unavailable; uploads are answered 503", metadata: ["error": "\(error)"])
                },
            ]
    }

    private static func verifyReceipt(_ settings: Settings<Configuration>) -> VerifyReceiptClient? {
        guard settings.verifyReceipt else { return nil }
        return VerifyReceiptClient(
            sharedSecret: settings.sharedSecret.map { String(decoding: $0.revealedBytes, as: UTF8.self) })
    }
}
