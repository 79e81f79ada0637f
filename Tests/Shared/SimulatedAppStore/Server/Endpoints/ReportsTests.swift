import Foundation
import Testing

@testable import SimulatedAppStore

@Suite struct ReportsTests {
    private static let consumption =
        #"{"customerConsented":true,"sampleContentProvided":false,"deliveryStatus":"DELIVERED"}"#

    @Test func `Consumption information is answered 202`() async throws {
        try await SimulatorFixture.open { fixture in
            let charge = PurchaseFixture.charge(seed: 3)
            try fixture.send(charge)
            let id = try #require(charge.purchase?.transactionId)
            let answer = try await fixture.put("v2/transactions/consumption/\(id)", Self.consumption)
            #expect(answer.status == 202 && answer.body.isEmpty)
            let unknown = try await fixture.put("v2/transactions/consumption/1", Self.consumption)
            #expect(unknown.errorCode == 4_040_010)
        }
    }

    @Test(arguments: [
        (#""customerConsented":true"#, #""customerConsented":false"#, 4_000_035),
        (#""customerConsented":true,"#, "", 4_000_035),
        (#""sampleContentProvided":false"#, #""sampleContentProvided":1"#, 4_000_041),
        (#""DELIVERED""#, #""LOST""#, 4_000_036),
        (#""DELIVERED""#, #""DELIVERED","refundPreference":"MAYBE""#, 4_000_044),
        (#""DELIVERED""#, #""DELIVERED","consumptionPercentage":100001"#, 4_000_000),
    ])
    func `Invalid consumption information has Apple's error code`(
        old: String, new: String, code: Int64
    ) async throws {
        try await SimulatorFixture.open { fixture in
            let body = Self.consumption.replacingOccurrences(of: old, with: new)
            let answer = try await fixture.put("v2/transactions/consumption/1", body)
            #expect(answer.errorCode == code)
        }
    }

    @Test func `App account token is in everything signed from now on`() async throws {
        try await SimulatorFixture.open { fixture in
            var story = PurchaseFixture()
            try fixture.send(story.next(.subscribe))
            let first = story.id
            try fixture.send(story.next(.renew))
            let token = "0f8fad5b-d9cb-469f-a165-70867728950e"
            let body = #"{"appAccountToken":"\#(token)"}"#
            let answer = try await fixture.put("v1/transactions/\(first)/appAccountToken", body)
            #expect(answer.status == 200 && answer.body.isEmpty)
            let page = try #require(try await fixture.get("v2/history/\(first)").json)
            #expect(try fixture.transactions(page).map { $0["appAccountToken"]?.string } == [token, token])
            let renewal = try await fixture.put("v1/transactions/\(story.transactionId)/appAccountToken", body)
            #expect(renewal.errorCode == 4_000_187)
            let noUUID = try await fixture.put("v1/transactions/\(first)/appAccountToken", #"{"appAccountToken":"me"}"#)
            #expect(noUUID.errorMessage == "Invalid request. The app account token field must be a valid UUID.")
            #expect(try await fixture.put("v1/transactions/1/appAccountToken", body).errorCode == 4_040_010)
        }
    }
}
