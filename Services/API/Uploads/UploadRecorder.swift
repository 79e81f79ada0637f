import AppStore
import Chassis
import Contracts
import Digests
import Kafka
import Operations
import ServerAPI
import Signatures
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
        let claim = account.map { account -> UploadClaim in
            var made = UploadClaim(
                appAccountToken: account, uploadedAt: upload.now, includesOwned: isRestore, evidence: upload.evidence)
            made.request = request.transfers
            return made
        }
        let entries = upload.accepted.map(\.entry)
        let performer = try request.performer(
            reason: request.body?.root["assign"]?["reason"]?.string, at: upload.now)
        let apps = account.map { Self.apps(of: upload, by: $0) } ?? []
        var keptApp: AccountAppStore.Outcome?
        var tried: AccountAppStore.Trial?
        if isDryRun, !apps.isEmpty {
            tried = try await database.withConnection { connection in
                try await AccountAppStore(connection).trial(of: apps, isRestore: isRestore, by: request.transfers)
            }
            keptApp = tried?.outcome
        } else {
            keptApp = try await keep(apps, isRestore: isRestore, request, by: performer)
        }
        var preview = try await database.withConnection { connection in
            try await StatePreviewStore(connection).preview(
                of: entries, in: app, account: account, claiming: claim, at: upload.now)
        }
        if let tried { preview.given = tried.given }
        if let account, let claim, !isDryRun, !preview.claims.isEmpty || !preview.transfers.isEmpty {
            let (now, isAssigned) = (upload.now, upload.isAssigned)
            preview = try await database.withConnection { connection in
                try await StatePreviewStore(connection).record(
                    entries, in: app, account: account, claiming: claim, at: now
                ) { keys in isAssigned ? Self.assignments(keys, to: account, by: performer, app) : [] }
            }
        }
        guard !preview.isAccountErased else { throw Problem.erased }
        let refused = preview.refused
        if let id = refused.min()?.originalTransactionId, preview.named == refused {
            throw Problem(
                .tooManyTransfers,
                "Purchase \(id) has moved between accounts \(PurchaseMove.limit) times within "
                    + "30 days and stays where it is; an operator can choose the account with storekeeper customers choose, "
                    + "which then has to restore it once more, with another Idempotency-Key."
            )
        }
        let answer = UploadAnswer(
            upload, preview, account: account, app: keptApp, definitions: definitions.current)
        // Where Apple did not answer, the same upload may succeed later.
        if upload.accepted.isEmpty, !upload.rejected.isEmpty, !upload.rejected.contains(where: \.mayPass) {
            throw answer.unverified
        }
        if isDryRun || upload.accepted.isEmpty { return answer.response(isRecorded: false) }
        do {
            try await services.record(upload.distinct)
        } catch let error as KafkaError {
            logger.warning("Kafka unavailable; upload answered 503", metadata: ["error": "\(error)"])
            throw answer.unrecorded
        }
        await setAccounts(preview.transfers.filter { $0.outcome == .accepted }, for: request.key)
        return answer.response(isRecorded: true)
    }

    /// The entries of the audit log about purchases that an operator's key assigns.
    private static func assignments(
        _ keys: [SubscriptionKey], to account: UUID, by performer: Performer, _ app: CoverageStore.App
    ) -> [OperatorAction] {
        keys.map { assignment(of: "purchase \($0.originalTransactionId)", to: account, by: performer, app) }
    }

    private static func assignment(
        of subject: String, to account: UUID, by performer: Performer, _ app: CoverageStore.App
    ) -> OperatorAction {
        performer.action(
            "assign", on: "\(subject) to \(account.uuidString.lowercased())",
            about: OperatorAction.About(app.environment, app.bundleId, account: account))
    }

    /// Has Apple name the new account in later transactions, where that is configured. What Apple does not take stays moved by
    /// the policy of the app alone; so does what the key may not ask any more, and what is left when the app has waited long enough.
    private func setAccounts(_ transfers: [TransferStore.Transfer], for key: ClientKey) async {
        guard services.setsAccountTokens else { return }
        let end = clock.instant() + AppleQuestion.patience
        for transfer in transfers {
            do {
                guard let account = UUID(uuidString: transfer.to) else { continue }
                let client = try AppleQuestion.client(
                    services, transfer.bundleId, transfer.key.environment, deadline: clock.instant().duration(to: end))
                try services.questions.take(key, for: .setAppAccountToken, at: clock.instant())
                try await client.setAppAccountToken(of: transfer.key.originalTransactionId, account)
            } catch {
                logger.warning(
                    "Apple did not set the account of a moved purchase; the app's policy decides about it alone",
                    metadata: ["app": "\(transfer.bundleId)", "error": "\(error)"])
            }
        }
    }

    /// The versions of the app that the account's customer first got.
    private static func apps(of upload: Upload, by account: UUID) -> [AccountAppStore.AccountApp] {
        upload.accepted.compactMap { part in
            guard let app = part.appTransaction, let version = app.originalApplicationVersion,
                let evidence = part.evidence
            else { return nil }
            // An empty id names no customer.
            let customer = app.appTransactionId.flatMap { $0.isEmpty ? nil : $0 }
            return AccountAppStore.AccountApp(
                environment: upload.environment, bundleId: upload.bundleId, appAccountToken: account,
                identity: customer ?? digest(app, in: upload.environment, of: account), evidence: evidence,
                originalApplicationVersion: version, originalPurchaseDate: app.originalPurchaseDate,
                preorderDate: app.preorderDate, recordedAt: upload.now)
        }
    }

    /// Stores them. They are no purchases, so no state is made of them.
    /// - Returns: what became of the last one; nil where there is none.
    private func keep(
        _ apps: [AccountAppStore.AccountApp], isRestore: Bool, _ request: APIRequest, by performer: Performer
    ) async throws -> AccountAppStore.Outcome? {
        var kept: AccountAppStore.Outcome?
        for app in apps {
            let audit = Self.assignment(
                of: "app transaction \(app.identity)", to: app.appAccountToken, by: performer,
                CoverageStore.App(app.environment, app.bundleId))
            kept = try await database.withConnection { connection in
                try await AccountAppStore(connection).add(
                    app, isRestore: isRestore, by: request.transfers, audit: app.evidence == .operator ? audit : nil)
            }
        }
        return kept
    }

    /// The digest of what all signed texts about one purchase of the app have in common. Outside of Production all customers have it in common:
    /// version 1.0, and one date. There each account has one of its own, and none is refused for another's.
    private static func digest(
        _ app: AppTransaction, in environment: StoreEnvironment, of account: UUID
    ) -> String {
        var members = [
            app.originalApplicationVersion ?? "", app.originalPurchaseDate?.milliseconds.description ?? "",
            app.preorderDate?.milliseconds.description ?? "",
        ]
        if environment != .production { members.append(account.uuidString.lowercased()) }
        let text = members.joined(separator: " ")
        return AccountAppStore.digestPrefix
            + String(decoding: Base64.encode(SHA256Hash.digest(Array(text.utf8))[...], .url), as: UTF8.self)
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

extension APIRequest {
    /// The ids by which a repeated request finds the restores that it has decided.
    fileprivate var transfers: TransferStore.Request? {
        claim.map { TransferStore.Request(ids: $0.ids, start: $0.start) }
    }
}
