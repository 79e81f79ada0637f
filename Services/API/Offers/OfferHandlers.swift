import AppStore
import Chassis
import Contracts
import Postgres
import ServerAPI
import Storage
import StrictJSON
import Subscriptions

import struct Foundation.UUID

/// Signs offers, and says who may have an introductory one.
struct OfferHandlers: Sendable {
    private let services: UploadServices
    private let database: Database
    private let clock: ProcessClock
    private let newId: @Sendable () -> UUID

    init(_ dependencies: Dependencies) {
        services = dependencies.uploads
        database = dependencies.database
        clock = dependencies.clock
        newId = dependencies.newId
    }

    /// `POST /v1/offers/promotional`: as the rules of the app decide. A refusal is an answer, for which the app shows no offer.
    func promotional(_ request: APIRequest) async throws -> APIResponse {
        guard let body = request.body?.root, let productId = body["productId"]?.string,
            let offer = body["offerIdentifier"]?.string
        else { throw Problem(.invalidRequest, "The request names no product and offer.") }
        let signer = try await signer(request, body)
        let (transactionId, account) = (body["transactionId"]?.string, body["appAccountToken"]?.string)
        let asked = OfferSignatureStore.Request(
            app: CoverageStore.App(request.key.environment, signer.bundleId),
            account: account.flatMap { UUID(uuidString: $0) }, productId: productId, offerIdentifier: offer,
            transactionId: transactionId, keyId: signer.keyId)
        let (now, newNonce) = (clock.now(), newId())
        let outcome = try await byRules(of: asked.app) { connection in
            try await OfferDecisionStore(connection).sign(
                asked, isRuleNeeded: services.needsOfferRule, nonce: newNonce, at: now)
        }
        switch outcome {
        case .erased: throw Self.erased
        case .refused(let refusal):
            return APIResponse { json in
                Self.write(refusal, to: &json)
                json.member("jws", nil as String?)
                json.member("storeKit1", nil as String?)
            }
        case .signed(let nonce, let signedAt):
            let username = account?.lowercased() ?? ""
            let jws = try signer.promotionalOffer(
                productId: productId, offerIdentifier: offer, transactionId: transactionId, nonce: nonce, now: signedAt)
            let signature = try signer.promotionalOfferSignature(
                productId: productId, offerIdentifier: offer, applicationUsername: username, nonce: nonce,
                timestamp: signedAt.milliseconds)
            return APIResponse { json in
                Self.write(nil, to: &json)
                json.member("jws", jws)
                json.beginObject("storeKit1")
                json.member("identifier", offer)
                json.member("keyIdentifier", signer.keyId)
                json.member("nonce", nonce.uuidString.lowercased())
                json.member("timestamp", signedAt.milliseconds)
                json.member("applicationUsername", username)
                json.member("signature", signature)
                json.endObject()
            }
        }
    }

    private static let erased = Problem(
        .conflict, "The account was erased; create the customer again, with a new appAccountToken.")

    private static func write(_ refusal: OfferRefusal?, to json: inout JSONWriter) {
        json.member("allowed", refusal == nil)
        json.member("reason", refusal?.reason)
        json.member("because", refusal?.description)
    }

    /// `GET /v1/accounts/{appAccountToken}/offers`: what the rules allow now, and Apple's win-back offers.
    func ofAccount(_ request: APIRequest) async throws -> APIResponse {
        let account = UUID(uuidString: request.parameter("appAccountToken")) ?? .zero
        let app = CoverageStore.App(request.key.environment, try request.allowed(request.query["bundleId"] ?? ""))
        let now = clock.now()
        let (offers, winBacks) = try await byRules(of: app) { connection in
            try await OfferDecisionStore(connection).offers(of: account, in: app, at: now)
        }
        return APIResponse { json in
            json.member("appAccountToken", account.uuidString.lowercased())
            json.member("environment", app.environment.rawValue)
            json.member("bundleId", app.bundleId)
            json.objects("data", of: offers) { json, offer in
                json.member("productId", offer.rule.productId)
                json.member("offerIdentifier", offer.rule.offerIdentifier)
                Self.write(offer.refusal, to: &json)
            }
            json.objects("winBack", of: winBacks) { json, offers in
                json.member("originalTransactionId", offers.originalTransactionId)
                json.member("productId", offers.productId)
                json.strings("eligibleWinBackOfferIds", of: offers.offerIdentifiers)
                json.member("signedDate", offers.signedAt.milliseconds)
            }
            json.member("asOf", now.milliseconds)
        }
    }

    private func byRules<Value: Sendable>(
        of app: CoverageStore.App, _ work: @Sendable (PostgresConnection) async throws -> Value
    ) async throws -> Value {
        do {
            return try await database.withConnection(work)
        } catch let faults as OfferRuleFaults {
            throw Problem(
                .conflict,
                "The offer rules of \(app.bundleId) were set by a newer version of Storekeeper; update this service. \(faults)"
            )
        }
    }

    /// `POST /v1/offers/introductory-eligibility`: by the transactions that are stored, none of which may have used an
    /// introductory offer in the subscription group.
    ///
    /// [Eligibility](https://developer.apple.com/documentation/storekit/implementing-introductory-offers-in-your-app)
    func introductoryEligibility(_ request: APIRequest) async throws -> APIResponse {
        guard let body = request.body?.root, let group = body["subscriptionGroupIdentifier"]?.string,
            let account = body["appAccountToken"]?.string.flatMap({ UUID(uuidString: $0) })
        else { throw Problem(.invalidRequest, "The request names no subscription group and account.") }
        let app = CoverageStore.App(request.key.environment, try request.allowed(body["bundleId"]?.string ?? ""))
        let now = clock.now()
        let transactionId = body["transactionId"]?.string
        let known = try await database.withConnection { connection in
            try await OfferDecisionStore(connection).introductoryUse(
                of: group, by: account, transactionId: transactionId, in: app, at: now)
        }
        guard let known else { throw Self.erased }
        let used = known.transactionId
        var jws: String?
        if let productId = body["productId"]?.string, let transactionId {
            jws = try await signer(request, body).introductoryOffer(
                productId: productId, isAllowed: used == nil, transactionId: transactionId, nonce: newId(), now: now)
        }
        return APIResponse { json in
            json.member("isEligible", used == nil)
            json.member("isKnown", known.isKnown)
            json.member("usedByTransactionId", used)
            json.member("jws", jws)
        }
    }

    private func signer(_ request: APIRequest, _ body: JSONValue) async throws -> OfferSigner {
        let bundleId = try request.allowed(body["bundleId"]?.string ?? "")
        let environment = AppStoreEnvironment(rawValue: request.key.environment.rawValue)
        guard let signer = await services.apple?[bundleId, environment]?.offerSigner else {
            throw Problem(
                .conflict,
                "There is no In-App Purchase key for \(bundleId); list one in the file of STOREKEEPER_APP_STORE_API_KEYS_FILE."
            )
        }
        return signer
    }
}
