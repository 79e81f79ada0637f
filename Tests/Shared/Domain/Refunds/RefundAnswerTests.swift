import Foundation
import StrictJSON
import Testing

@testable import Refunds

/// Apple's rules for answers, over the product of all values.
@Suite struct RefundAnswerTests {
    static let types = ["Auto-Renewable Subscription", "Non-Consumable", "Consumable", "Non-Renewing Subscription"]
    static let percentages: [Int64?] = [nil, 0, 1, 50_000, 99_999, 100_000]

    static func each(_ body: (RefundSubject, RefundPreference?) throws -> Void) rethrows {
        for type in types {
            for percentage in percentages {
                for delivery in [nil] + DeliveryStatus.allCases.map(Optional.some) {
                    for isAdvanced in [false, true] {
                        for preference in [nil] + RefundPreference.allCases.map(Optional.some) {
                            let subject = RefundPolicyTests.subject {
                                $0.productType = type
                                $0.isAdvancedCommerce = isAdvanced
                                $0.usage = .init(percentage: percentage, deliveryStatus: delivery)
                            }
                            try body(subject, preference)
                        }
                    }
                }
            }
        }
    }

    @Test func `Every answer is one that Apple documents as accepted, and each change of it has a reason`() throws {
        var count = 0
        try Self.each { subject, preference in
            let answer = RefundAnswer(preference, about: subject)
            let json = try JSONDocument(answer.body).root
            #expect(json["customerConsented"]?.bool == true && json["sampleContentProvided"]?.bool != nil)
            #expect(json.members.allSatisfy { !$0.value.isNull })
            count += 1
            if answer.isVersion1 {
                #expect(json.members.count == 12 && json["consumptionPercentage"] == nil)
                #expect((0...5).contains(try #require(json["deliveryStatus"]?.int64)))
                #expect((0...2).contains(try #require(json["refundPreference"]?.int64)))
                #expect(
                    answer.adjustments.isEmpty == (subject.usage?.percentage == nil && preference != .grantProrated))
                return
            }
            let percentage = json["consumptionPercentage"]?.int64
            let isDelivered = json["deliveryStatus"]?.string == "DELIVERED"
            if subject.isAutoRenewable { #expect(percentage == nil) }
            if let percentage, percentage != 0 { #expect(isDelivered) }
            if json["refundPreference"]?.string == "GRANT_PRORATED", !subject.isAutoRenewable {
                #expect(percentage.map { $0 > 0 && $0 < 100_000 } ?? false)
            }
            let isChanged = percentage != subject.usage?.percentage || answer.preference != preference
            #expect(answer.adjustments.isEmpty == !isChanged)
        }
        #expect(count == 4 * 6 * 6 * 2 * 4)
    }

    @Test func `A prorated refund becomes none without a percentage, full at 0, and a decline at everything`() {
        for (percentage, told) in [
            (nil, nil), (0, .grantFull), (1, .grantProrated), (100_000, .decline),
        ] as [(Int64?, RefundPreference?)] {
            let subject = RefundPolicyTests.subject { $0.usage = .init(percentage: percentage) }
            #expect(RefundAnswer(.grantProrated, about: subject).preference == told)
        }
    }

    @Test func `Bodies are Apple's, byte for byte`() {
        let subject = RefundPolicyTests.subject {
            $0.usage = .init(percentage: 25_000, deliveryStatus: .delivered, isSampleProvided: true)
        }
        #expect(
            String(decoding: RefundAnswer(.grantProrated, about: subject).body, as: UTF8.self)
                == #"{"customerConsented":true,"sampleContentProvided":true,"deliveryStatus":"DELIVERED","consumptionPercentage":25000,"refundPreference":"GRANT_PRORATED"}"#
        )
        let advanced = RefundPolicyTests.subject { $0.isAdvancedCommerce = true }
        #expect(
            String(decoding: RefundAnswer(.decline, about: advanced).body, as: UTF8.self)
                == #"{"accountTenure":0,"appAccountToken":"","consumptionStatus":0,"customerConsented":true,"deliveryStatus":0,"lifetimeDollarsPurchased":0,"lifetimeDollarsRefunded":0,"platform":0,"playTime":0,"refundPreference":2,"sampleContentProvided":false,"userStatus":0}"#
        )
    }
}
