import AppStore
import Chassis
import Contracts
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

    /// `POST /v1/offers/promotional`
    func promotional(_ request: APIRequest) async throws -> APIResponse {
        guard let body = request.body?.root, let productId = body["productId"]?.string,
            let offer = body["offerIdentifier"]?.string
        else { throw Problem(.invalidRequest, "The request names no product and offer.") }
        let signer = try await signer(request, body)
        let now = clock.now()
        let (nonce, timestamp) = (newId(), now.milliseconds)
        let username = body["appAccountToken"]?.string?.lowercased() ?? ""
        let jws = try signer.promotionalOffer(
            productId: productId, offerIdentifier: offer, transactionId: body["transactionId"]?.string, nonce: nonce,
            now: now)
        let signature = try signer.promotionalOfferSignature(
            productId: productId, offerIdentifier: offer, applicationUsername: username, nonce: nonce,
            timestamp: timestamp)
        return APIResponse { json in
            json.member("jws", jws)
            json.beginObject("storeKit1")
            json.member("identifier", offer)
            json.member("keyIdentifier", signer.keyId)
            json.member("nonce", nonce.uuidString.lowercased())
            json.member("timestamp", timestamp)
            json.member("applicationUsername", username)
            json.member("signature", signature)
            json.endObject()
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
        let preview = try await database.withConnection { connection in
            try await StatePreviewStore(connection).preview(of: [], in: app, account: account, at: now)
        }
        let used = preview.purchases.values.flatMap(\.transactions).map(\.facts).filter {
            $0.subscriptionGroupIdentifier == group && $0.offerType == 1
        }.min { $0.signedDate < $1.signedDate }
        var jws: String?
        if let productId = body["productId"]?.string, let transactionId = body["transactionId"]?.string {
            jws = try await signer(request, body).introductoryOffer(
                productId: productId, isAllowed: used == nil, transactionId: transactionId, nonce: newId(), now: now)
        }
        return APIResponse { json in
            json.member("isEligible", used == nil)
            json.member("isKnown", !preview.purchases.isEmpty)
            json.member("usedByTransactionId", used?.transactionId)
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
