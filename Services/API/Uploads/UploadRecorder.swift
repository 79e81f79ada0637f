import Chassis
import Contracts
import Kafka
import Storage
import StrictJSON
import Subscriptions

import struct Foundation.Date
import struct Foundation.UUID

/// Tells what the pipeline will hold after an upload, hands the upload to the pipeline, and answers.
struct UploadRecorder: Sendable {
    private let services: UploadServices
    private let database: Database
    private let definitions: DefinitionTable
    private let clock: ProcessClock
    private let logger: Logger

    init(_ dependencies: Dependencies) {
        services = dependencies.uploads
        database = dependencies.database
        definitions = dependencies.definitions
        clock = dependencies.clock
        logger = dependencies.logger
    }

    /// - Parameters:
    ///   - account: that uploads; nil where the app has no accounts.
    ///   - isDryRun: writes nothing.
    func answer(
        _ proven: Upload, _ request: APIRequest, account: UUID?, isRestore: Bool = false, isDryRun: Bool = false
    ) async throws -> APIResponse {
        var upload = proven
        upload.rejectRenewals(exceptOf: try await stored(upload))
        try count(upload, of: request.key)
        let app = CoverageStore.App(upload.environment, upload.bundleId)
        let claim = account.map {
            UploadClaim(
                appAccountToken: $0, uploadedAt: upload.now, includesOwned: isRestore, evidence: upload.evidence)
        }
        let entries = upload.accepted.map(\.entry)
        if let account, !isDryRun { try await keepApps(upload, of: account) }
        let preview = try await database.withConnection { connection in
            try await StatePreviewStore(connection).preview(
                of: entries, in: app, account: account, claiming: claim, at: upload.now)
        }
        guard !preview.isAccountErased else { throw Problem.erased }
        try await rejectTransfers(preview.transfers, at: upload.now, isDryRun: isDryRun)
        let answer = UploadAnswer(upload, preview, account: account, definitions: definitions.current)
        if isDryRun || upload.accepted.isEmpty { return answer.response(isRecorded: false) }
        let assignments = upload.isAssigned ? assignments(preview.claims, request, at: upload.now) : []
        if !preview.claims.isEmpty {
            try await database.withConnection { connection in
                try await TransferStore(connection).add(
                    preview.claims, moving: preview.transfers, recording: assignments, at: upload.now)
            }
        }
        do {
            try await services.record(upload.distinct)
        } catch let error as KafkaError {
            logger.warning("Kafka unavailable; upload answered 503", metadata: ["error": "\(error)"])
            throw answer.unrecorded
        }
        await setAccounts(preview.transfers)
        return answer.response(isRecorded: true)
    }

    /// The entries of the audit log about purchases that an operator's key assigns.
    private func assignments(_ claims: [AccountClaim], _ request: APIRequest, at now: Date) -> [OperatorAction] {
        claims.map { claim in
            OperatorAction(
                actedAt: now, actor: request.actor, action: "assign",
                subject:
                    "\(claim.key.environment.rawValue) \(claim.bundleId) purchase \(claim.key.originalTransactionId) "
                    + "to \(claim.appAccountToken)",
                note: request.body?.root["assign"]?["reason"]?.string)
        }
    }

    /// A purchase that goes from account to account is shared by customers of whom one has paid.
    private func rejectTransfers(_ transfers: [TransferStore.Transfer], at now: Date, isDryRun: Bool) async throws {
        guard !transfers.isEmpty else { return }
        let exhausted = try await database.withConnection { connection in
            let store = TransferStore(connection)
            let exhausted = Set(try await store.exhausted(among: transfers, at: now))
            let rejected = transfers.filter { exhausted.contains($0.key) }
            if !isDryRun, !rejected.isEmpty { try await store.reject(rejected, at: now) }
            return rejected.map(\.key.originalTransactionId)
        }
        guard let first = exhausted.first else { return }
        throw Problem(
            .tooManyTransfers,
            "Purchase \(first) has moved between accounts \(TransferStore.limit) times within 30 days and stays where it is; "
                + "an operator can choose the account with storekeeper customers choose.")
    }

    /// Has Apple name the new account in later transactions, where that is configured. What Apple does not take stays moved by
    /// the policy of the app alone.
    private func setAccounts(_ transfers: [TransferStore.Transfer]) async {
        guard services.setsAccountTokens else { return }
        for transfer in transfers {
            do {
                guard let account = UUID(uuidString: transfer.to) else { continue }
                let client = try AppleQuestion.client(services, transfer.bundleId, transfer.key.environment)
                try await client.setAppAccountToken(of: transfer.key.originalTransactionId, account)
            } catch {
                logger.warning(
                    "Apple did not set the account of a moved purchase; the app's policy decides about it alone",
                    metadata: ["app": "\(transfer.bundleId)", "error": "\(error)"])
            }
        }
    }

    /// What version of the app the account's customer first got. It is no purchase, so no state is made of it.
    private func keepApps(_ upload: Upload, of account: UUID) async throws {
        for app in upload.accepted.compactMap(\.appTransaction) {
            guard let version = app.originalApplicationVersion else { continue }
            try await database.withConnection { connection in
                try await AccountAppStore(connection).add(
                    AccountAppStore.AccountApp(
                        environment: upload.environment, bundleId: upload.bundleId, appAccountToken: account,
                        appTransactionId: app.appTransactionId ?? "", originalApplicationVersion: version,
                        originalPurchaseDate: app.originalPurchaseDate, recordedAt: upload.now))
            }
        }
    }

    /// The purchases of renewal information that are stored for this app.
    private func stored(_ upload: Upload) async throws -> Set<String> {
        let ids = upload.purchases(of: .renewalInfo).subtracting(upload.purchases(of: .transaction))
        guard !ids.isEmpty else { return [] }
        let rows = try await database.rows(
            EntitlementStore.command(purchases: ids.sorted(), in: upload.environment, at: upload.now))
        return Set(
            try EntitlementStore.subscriptions(rows).filter { $0.bundleId == upload.bundleId }
                .map(\.key.originalTransactionId))
    }

    private func count(_ upload: Upload, of key: ClientKey) throws {
        Metric.apiUploads.counter("accepted").increment(by: upload.accepted.count)
        for rejected in upload.rejected {
            Metric.apiUploads.counter(rejected.reason).increment()
            let decision = services.rejections.take(key.id, at: clock.instant())
            guard !decision.isAllowed else { continue }
            throw Problem(
                .tooManyRequests,
                "The key “\(key.name)” had \(services.rejections.quota) parts rejected within a minute; "
                    + "\(rejected.pointer): \(rejected.detail)", headers: [.retryAfter: "\(decision.seconds)"])
        }
    }
}
