import Foundation
import StrictJSON

/// The External Purchase Server API: reports are kept, and a wrong one is rejected as a whole.
extension StoreAPI {
    private static let statuses: Set = ["LINE_ITEM", "NO_LINE_ITEM", "UNRECOGNIZED_TOKEN", "DUPLICATE_TOKEN"]

    /// Send External Purchase Report. Apple documents no codes here: the errors name the field.
    func sendExternalPurchaseReport(_ call: APICall) throws -> APIAnswer {
        let json = try call.json()
        guard let request = json["requestIdentifier"]?.string, UUID(uuidString: request) != nil else {
            return Self.fault("requestIdentifier", "must be a UUID")
        }
        guard let token = json["externalPurchaseId"]?.string, !token.isEmpty,
            token.hasPrefix("SANDBOX") == (call.app.environment == .sandbox)
        else { return Self.fault("externalPurchaseId", "is no token of this environment") }
        guard let status = json["status"]?.string, Self.statuses.contains(status) else {
            return Self.fault("status", "is unknown")
        }
        let items = json["lineItems"]?.elements ?? []
        guard (status == "LINE_ITEM") == !items.isEmpty else {
            return Self.fault("lineItems", "must be there with the status LINE_ITEM, and only then")
        }
        guard items.allSatisfy({ $0["lineItemId"]?.string.flatMap { UUID(uuidString: $0) } != nil }) else {
            return Self.fault("lineItemId", "must be a UUID")
        }
        guard externalPurchases.add(call.request.body, request, of: call.app) else {
            return Self.fault("requestIdentifier", "was submitted before")
        }
        return APIAnswer { $0.member("requestIdentifier", request) }
    }

    /// Retrieve External Purchase Report.
    func externalPurchaseReport(_ call: APICall) throws -> APIAnswer {
        guard let body = externalPurchases.body(call.id, of: call.app) else { return .notFound }
        return APIAnswer(status: 200, body: body)
    }

    private static func fault(_ field: String, _ message: String) -> APIAnswer {
        APIAnswer(status: 400) { json in
            json.beginArray("errors")
            json.beginObject()
            json.member("errorCode", Int64(4_000_000))
            json.member("errorMessage", "The value \(message).")
            json.member("fieldName", field)
            json.endObject()
            json.endArray()
        }
    }
}
