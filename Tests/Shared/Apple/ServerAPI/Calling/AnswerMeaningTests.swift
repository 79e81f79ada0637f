import Foundation
import Testing

@testable import ServerAPI

@Suite struct AnswerMeaningTests {
    /// A meaning without what it carries.
    enum Kind: String { case success, unauthorized, tooMany, transient, rejected, unsettled, unreadable }

    private static func kind(_ outcome: APIOutcome, _ endpoint: APIEndpoint) -> Kind {
        switch AnswerMeaning(outcome, of: endpoint, now: APIFixture.start) {
        case .success: .success
        case .unauthorized: .unauthorized
        case .tooMany: .tooMany
        case .transient: .transient
        case .final(.rejected): .rejected
        case .final(.unsettled): .unsettled
        case .final: .unreadable
        }
    }

    private static func answer(_ status: Int, code: Int? = nil) -> APIOutcome {
        let body = code.map { Array(#"{"errorCode":\#($0)}"#.utf8) } ?? []
        return .answered(APIAnswer(status: status, body: body, serverDate: nil, retryAfter: nil))
    }

    @Test(arguments: [
        (200, nil, Kind.success, Kind.success), (202, nil, .success, .success), (204, nil, .success, .success),
        (401, nil, .unauthorized, .unauthorized),
        (429, 4_290_000, .tooMany, .tooMany), (429, nil, .tooMany, .tooMany),
        (404, 4_040_002, .transient, .transient), (404, 4_040_004, .transient, .transient),
        (404, 4_040_006, .transient, .transient),
        (404, 4_040_005, .rejected, .rejected), (404, nil, .rejected, .rejected),
        (400, 4_000_000, .rejected, .rejected), (403, 4_030_005, .rejected, .rejected),
        (302, nil, .rejected, .rejected),
        // Apple's own word that it was not done lets even an extension be repeated; another failure does not.
        (500, 5_000_001, .transient, .transient),
        (500, 5_000_000, .transient, .unsettled), (500, nil, .transient, .unsettled),
        (503, nil, .transient, .unsettled),
    ])
    func `AnswerMeaning decides what each answer means`(status: Int, code: Int?, reading: Kind, extending: Kind) {
        for endpoint in APIEndpoint.allCases {
            let expected = Self.unrepeatable.contains(endpoint) ? extending : reading
            #expect(Self.kind(Self.answer(status, code: code), endpoint) == expected, "\(endpoint)")
        }
    }

    private static let unrepeatable: Set<APIEndpoint> = [
        .extendRenewalDate, .massExtension, .externalPurchaseReport, .commerceCancellation, .commerceRevocation,
        .commercePriceChange, .commerceMetadataChange, .commerceMigration, .commerceRefund, .retentionImageUpload,
        .retentionImageDeletion, .retentionMessageUpload, .retentionMessageDeletion, .retentionDefaultDeletion,
        .realtimeURLDeletion, .performanceTest,
    ]

    @Test func `Call without an answer is repeated only where that does no harm, or it was never sent`() {
        for endpoint in APIEndpoint.allCases {
            let isUnrepeatable = Self.unrepeatable.contains(endpoint)
            #expect(Self.kind(.unanswered("x", wasSent: false), endpoint) == .transient)
            #expect(Self.kind(.unanswered("x", wasSent: true), endpoint) == (isUnrepeatable ? .unsettled : .transient))
        }
    }

    @Test func `Server's clock that differs counts for its own moments`() {
        let answer = APIAnswer(
            status: 429, body: [], serverDate: APIFixture.start.addingTimeInterval(100), retryAfter: "1780000107000")
        #expect(
            AnswerMeaning(.answered(answer), of: .orderLookup, now: APIFixture.start) == .tooMany(pause: .seconds(7)))
    }
}
