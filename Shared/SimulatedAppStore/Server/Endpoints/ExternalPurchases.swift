import Foundation
import StrictJSON

/// The External Purchase Server API: reports are kept, and a wrong one is rejected as a whole.
extension StoreAPI {
    private static let statuses: Set = ["LINE_ITEM", "NO_LINE_ITEM", "UNRECOGNIZED_TOKEN", "DUPLICATE_TOKEN"]

    /// Apple's errors of a report, with its numbers.
    private enum ReportFault: Int64 {
        case duplicateValue = 1
        case notFound = 3
        case omittedField = 4
        case unknownEnum = 7
        case missingLineItemsForStatus = 9
        case lineItemsNotAllowedForStatus = 10

        var message: String {
            switch self {
            case .duplicateValue: "The value was submitted before."
            case .notFound: "The referenced value was not found."
            case .omittedField: "A required field is missing."
            case .unknownEnum: "The value is unknown."
            case .missingLineItemsForStatus: "The status LINE_ITEM needs line items."
            case .lineItemsNotAllowedForStatus: "The status does not allow line items."
            }
        }
    }

    /// Send External Purchase Report.
    ///
    /// <https://developer.apple.com/documentation/externalpurchaseserverapi/send-external-purchase-report>
    func sendExternalPurchaseReport(_ call: APICall) throws -> APIAnswer {
        let json = try call.json()
        guard let request = json["requestIdentifier"]?.string, UUID(uuidString: request) != nil else {
            return Self.rejected(.omittedField, "requestIdentifier")
        }
        guard let token = json["externalPurchaseId"]?.string, !token.isEmpty else {
            return Self.rejected(.omittedField, "externalPurchaseId")
        }
        guard token.hasPrefix("SANDBOX") == (call.app.environment == .sandbox) else {
            return Self.rejected(.notFound, "externalPurchaseId")
        }
        guard let status = json["status"]?.string else { return Self.rejected(.omittedField, "status") }
        guard Self.statuses.contains(status) else { return Self.rejected(.unknownEnum, "status") }
        let items = json["lineItems"]?.elements ?? []
        guard status == "LINE_ITEM" || items.isEmpty else {
            return Self.rejected(.lineItemsNotAllowedForStatus, "status")
        }
        guard status != "LINE_ITEM" || !items.isEmpty else {
            return Self.rejected(.missingLineItemsForStatus, "status")
        }
        guard items.allSatisfy({ $0["lineItemId"]?.string.flatMap { UUID(uuidString: $0) } != nil }) else {
            return Self.rejected(.omittedField, "lineItemId")
        }
        guard externalPurchases.add(call.request.body, request, of: call.app) else {
            return Self.rejected(.duplicateValue, "requestIdentifier")
        }
        return APIAnswer { $0.member("requestIdentifier", request) }
    }

    /// Retrieve External Purchase Report.
    ///
    /// <https://developer.apple.com/documentation/externalpurchaseserverapi/retrieve-external-purchase-report>
    func externalPurchaseReport(_ call: APICall) throws -> APIAnswer {
        guard let body = externalPurchases.body(call.id, of: call.app) else {
            return APIAnswer(status: 400) { Self.write(.notFound, "requestIdentifier", to: &$0) }
        }
        return APIAnswer(status: 200, body: body)
    }

    private static func rejected(_ fault: ReportFault, _ field: String) -> APIAnswer {
        APIAnswer(status: 400) { json in
            json.objects("errors", of: [fault]) { json, fault in write(fault, field, to: &json) }
        }
    }

    private static func write(_ fault: ReportFault, _ field: String, to json: inout JSONWriter) {
        json.member("errorCode", fault.rawValue)
        json.member("errorMessage", fault.message)
        json.member("fieldName", field)
    }
}
