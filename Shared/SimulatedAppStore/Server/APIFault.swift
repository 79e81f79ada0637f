/// One of Apple's errors.
struct APIFault: Error, Sendable, Equatable {
    /// Apple's error code; its first three digits are the HTTP status.
    var code: Int64
    var message: String

    init(_ code: Int64, _ message: String? = nil) {
        self.code = code
        self.message = message ?? Self.messages[code] ?? "An unknown error occurred."
    }

    /// 4040010 is a 404.
    var status: Int { Int(code / 10_000) }

    private static let messages: [Int64: String] = [
        4_000_000: "Bad request.",
        4_000_005: "Invalid request revision.",
        4_000_006: "Invalid transaction id.",
        4_000_008: "Invalid original transaction id.",
        4_000_009: "Invalid extend by days value.",
        4_000_010: "Invalid extend reason code.",
        4_000_011: "Invalid request identifier.",
        4_000_012: "Invalid request. The start date is earlier than the allowed start date.",
        4_000_013: "Invalid request. The end date precedes the start date or the dates are the same.",
        4_000_014: "Invalid request. The pagination token is invalid.",
        4_000_015: "Invalid request. The start date is invalid.",
        4_000_016: "Invalid request. The end date is invalid.",
        4_000_017: "Invalid request. The pagination token is expired.",
        4_000_018: "Invalid request. The notification type or subtype is invalid.",
        4_000_019: "Invalid request. Supply either a transaction id or a notification type, but not both.",
        4_000_020: "Invalid request. The test notification token is invalid.",
        4_000_021: "Invalid request. The sort parameter is invalid.",
        4_000_022: "Invalid request. The product type parameter is invalid.",
        4_000_023: "Invalid request. The product id parameter is invalid.",
        4_000_024: "Invalid request. The subscription group identifier parameter is invalid.",
        4_000_025: "Invalid request. The exclude revoked parameter is invalid.",
        4_000_026: "Invalid request. The in app ownership type parameter is invalid.",
        4_000_027: "Invalid request. The storefront country code list is empty.",
        4_000_028: "Invalid request. A storefront country code is invalid.",
        4_000_030: "Invalid request. The revoked parameter is invalid.",
        4_000_031: "Invalid request. The status parameter is invalid.",
        4_000_032: "Invalid request. The account tenure field is invalid.",
        4_000_033: "Invalid request. The app account token field must contain a valid UUID or an empty string.",
        4_000_034: "Invalid request. The consumption status field is invalid.",
        4_000_035: "Invalid request. The customer consented field must be true.",
        4_000_036: "Invalid request. The delivery status field is invalid.",
        4_000_037: "Invalid request. The lifetime dollars purchased field is invalid.",
        4_000_038: "Invalid request. The lifetime dollars refunded field is invalid.",
        4_000_039: "Invalid request. The platform field is invalid.",
        4_000_040: "Invalid request. The playtime field is invalid.",
        4_000_041: "Invalid request. The sample content provided field is invalid.",
        4_000_042: "Invalid request. The user status field is invalid.",
        4_000_044: "Invalid request. The refund preference field is invalid.",
        4_000_047: "Invalid request. The transaction type isn't supported by this endpoint.",
        4_000_183: "Invalid request. The app account token field must be a valid UUID.",
        4_000_185: "Invalid request. Family Sharing transactions aren't supported by this endpoint.",
        4_000_187: "Invalid request. The transaction ID provided is not an original transaction ID.",
        4_030_004: "The subscription is not eligible for an extension.",
        4_030_005: "The subscription has reached the maximum number of extensions.",
        4_030_007: "Family Sharing subscriptions are not eligible for an extension.",
        4_040_002: "Account not found. Please try again.",
        4_040_004: "App not found. Please try again.",
        4_040_005: "Original transaction id not found.",
        4_040_006: "Original transaction id not found. Please try again.",
        4_040_007: "No App Store Server Notification URL found for the environment.",
        4_040_008:
            "Either the test notification token is expired or the notification and status are not yet available.",
        4_040_009: "The request status is not found.",
        4_040_010: "Transaction id not found.",
        4_040_019: "No AppTransaction exists for the customer.",
        4_290_000: "Rate limit exceeded.",
        5_000_000: "An unknown error occurred.",
        5_000_001: "An unknown error occurred. Please try again.",
    ]
}
