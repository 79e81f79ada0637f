import Foundation
import Testing

@testable import ServerAPI

@Suite struct APIErrorCodeTests {
    /// Apple's documentation of mid 2026, its libraries included.
    private static let documented: Set<Int64> = {
        let requests: [Int64] =
            [0, 2, 4, 5, 6] + (8...28) + (30...44)
            + [47, 48, 161, 162, 163, 164, 175, 183, 185, 187, 209, 211, 212, 213, 215, 216, 218, 219, 224, 225, 227]
        let forbidden: [Int64] = [4, 5, 7, 14, 16, 17, 18, 19, 26]
        let missing: [Int64] = (1...10) + [14, 15, 18, 19, 20, 21, 22]
        let commerce: [Int64] =
            Array(79...82) + (86...89) + [97, 99, 101, 103, 105, 106, 107, 109, 111, 115, 118, 119] + (121...124)
            + [127, 133, 134, 135] + (153...160) + [
                165, 166, 167, 173, 176, 181, 182, 184, 186, 192, 193, 194, 205, 220,
            ]
        let commerceForbidden: [Int64] = [8, 10, 13, 15, 20, 21, 23, 24, 25, 27]
        let inApp: [Int64] = [
            53, 63, 83, 84, 85, 91, 92, 93, 94, 95, 96, 98, 100, 102, 104, 110, 112, 113, 114, 116, 117, 125, 126, 128,
            129, 130, 131, 132, 136, 137, 139, 140, 141, 142, 143, 144, 145, 146, 147, 148, 149, 150, 151, 152, 168,
            169, 171, 172, 174, 177, 178, 179, 180, 214, 221, 222, 223,
        ]
        let inAppForbidden: [Int64] = [9, 11, 22]
        var codes: Set<Int64> = [4_010_000, 4_040_016, 4_090_000, 4_090_001, 4_290_000, 5_000_000, 5_000_001]
        codes.formUnion(requests.map { 4_000_000 + $0 })
        codes.formUnion((commerce + inApp).map { 4_000_000 + $0 })
        codes.formUnion((forbidden + commerceForbidden + inAppForbidden).map { 4_030_000 + $0 })
        codes.formUnion(missing.map { 4_040_000 + $0 })
        return codes
    }()

    @Test func `Every code that Apple documents has a name`() {
        #expect(Set(APIErrorCode.known.map(\.rawValue)) == Self.documented)
    }

    @Test func `APIErrorCode is retryable where Apple calls it so, and nowhere else`() {
        let retryable = APIErrorCode.known.filter(\.isRetryable).map(\.rawValue).sorted()
        #expect(retryable == [4_040_002, 4_040_004, 4_040_006, 4_290_000, 5_000_001])
    }

    @Test(arguments: APIErrorCode.known.sorted { $0.rawValue < $1.rawValue })
    func `Code arrives with status, message and what to do`(code: APIErrorCode) async throws {
        let rejection = APIRejection(
            endpoint: .notificationHistory, status: Int(code.rawValue / 10_000),
            body: Array(#"{"errorCode":\#(code.rawValue),"errorMessage":"Said so."}"#.utf8), retryAfter: nil)
        #expect(rejection.code == code && rejection.code?.isKnown == true)
        #expect(
            rejection.description.hasPrefix(
                "the App Store answered notification-history with \(rejection.status), \(code.rawValue) \"Said so.\": ")
        )
        #expect(APIError.rejected(rejection).code == code)
        #expect(APIError.rejected(rejection).isRetryable == (code.isRetryable || code == .generalInternal))
    }

    @Test func `Errors of a report about an external purchase name their fields and lines`() {
        let body = """
            {"errors":[{"errorCode":9,"errorMessage":"Missing.","fieldName":"status"},\
            {"errorCode":4,"errorMessage":"Omitted.","fieldName":"taxCountry","lineItemId":"i"}]}
            """
        let rejection = APIRejection(
            endpoint: .externalPurchaseReport, status: 400, body: Array(body.utf8), retryAfter: nil)
        #expect(rejection.message == "status: Missing.; i taxCountry: Omitted." && !rejection.isRetryable)
        #expect(rejection.description.hasSuffix("correct what it names; Apple takes nothing of a report with errors"))
    }

    @Test func `Code that is newer than this build survives`() {
        let rejection = APIRejection(
            endpoint: .refundHistory, status: 404, body: Array(#"{"errorCode":4049999,"more":1}"#.utf8), retryAfter: nil
        )
        #expect(rejection.code?.rawValue == 4_049_999 && rejection.code?.isKnown == false && !rejection.isRetryable)
        #expect(rejection.description.contains("newer than this build"))
    }

    @Test(arguments: ["", "<html>", "[]", #"{"errorCode":"x"}"#, "{\"errorCode\":4040010"])
    func `Answer that is no error of Apple's has a status only`(body: String) {
        let rejection = APIRejection(endpoint: .orderLookup, status: 404, body: Array(body.utf8), retryAfter: nil)
        #expect(rejection.code == nil && rejection.message.isEmpty)
        #expect(rejection.description.contains("check the address"))
        #expect(!rejection.isRetryable)
    }

    @Test func `Message cannot steer a terminal, nor fill a disk`() {
        let body =
            #"{"errorCode":4040010,"errorMessage":"a\u001b[2J\n\u202eb"# + String(repeating: "c", count: 9999) + "\"}"
        let rejection = APIRejection(endpoint: .orderLookup, status: 404, body: Array(body.utf8), retryAfter: nil)
        #expect(rejection.message.hasPrefix("a[2Jb") && rejection.message.count == 256)
    }
}
