import AppStore
import Contracts
import Foundation
import Storage
import StrictJSON
import TestSupport
import Testing

@testable import API
@testable import AppStoreSamples

/// What customers consented to.
@Suite(.hangLimit) struct ConsentTests {
    private static let consents = "/v1/customers/user-1/consents"

    @Test func `Consents are kept with what was agreed to, and the newest counts`() async throws {
        try await RunningAPI.with { api in
            let key = try await api.key(bundleIds: [SampleState.app])
            _ = try await api.send("PUT", "/v1/customers/user-1", key: key, json: "{}")
            #expect(try await api.get(Self.consents, key: key).json?["inForce"]?.elements.isEmpty == true)
            let given = try await api.send(
                "PUT", "\(Self.consents)/consumption", key: key, json: #"{"note":"terms of 2026-01"}"#)
            #expect(given.json?["inForce"]?.elements.compactMap(\.string) == ["consumption"])
            api.clock.advance(by: 1)
            let taken = try await api.send("DELETE", "\(Self.consents)/consumption", key: key)
            #expect(taken.json?["inForce"]?.elements.isEmpty == true)
            let rows = try await api.get(Self.consents, key: key).json?["data"]?.elements ?? []
            #expect(rows.compactMap { $0["given"]?.bool } == [false, true])
            #expect(rows.last?["note"]?.string == "terms of 2026-01")
            let early = api.clock.now.milliseconds + 1000
            let future = try await api.send(
                "PUT", "\(Self.consents)/consumption", key: key, json: #"{"givenAt":\#(early)}"#)
            #expect(future.problem == "invalid-request")
        }
    }

    @Test func `Parent who takes back the consent to the app ends what was consented to before`() async throws {
        try await UploadFixture.with { fixture in
            let account = UUID()
            let key = try await fixture.api.key(environment: .production, bundleIds: [ForgeryMaterial.bundleId])
            _ = try await fixture.api.send(
                "PUT", "/v1/customers/user-1", key: key, json: #"{"appAccountToken":"\#(account.uuidString)"}"#)
            let before = UploadFixture.now.addingTimeInterval(-60).milliseconds
            _ = try await fixture.api.send(
                "PUT", "\(Self.consents)/consumption", key: key, json: #"{"givenAt":\#(before)}"#)
            let paid = try fixture.transaction(of: account) { $0.appTransactionId = "70001" }
            let rescinded = try fixture.rescinded("70001")
            let other = try fixture.rescinded("70002")
            try await fixture.apply([AppleTests.webhook(paid), AppleTests.webhook(other)])
            let unconcerned = try await fixture.api.get(Self.consents, key: key)
            #expect(unconcerned.json?["inForce"]?.elements.count == 1)
            try await fixture.apply([AppleTests.webhook(rescinded)])
            let answer = try await fixture.api.get(Self.consents, key: key)
            #expect(answer.json?["rescindedAt"]?.int64 != nil)
            #expect(answer.json?["inForce"]?.elements.isEmpty == true)
            let again = try await fixture.api.send("PUT", "\(Self.consents)/consumption", key: key, json: "{}")
            #expect(again.json?["inForce"]?.elements.count == 1)
        }
    }
}

extension UploadFixture {
    /// `RESCIND_CONSENT` of a customer.
    fileprivate func rescinded(_ appTransactionId: String) throws -> [UInt8] {
        var app = material.appTransaction()
        app.appTransactionId = appTransactionId
        app.receiptCreationDate = Self.now
        var data = NotificationAppData()
        data.appAppleId = ForgeryMaterial.appAppleId
        data.bundleId = ForgeryMaterial.bundleId
        data.environment = .production
        data.signedAppTransactionInfo = String(decoding: try material.signed(app), as: UTF8.self)
        return try material.signed(
            material.envelope { payload in
                payload.notificationType = .rescindConsent
                payload.notificationUUID = UUID().uuidString.lowercased()
                payload.data = nil
                payload.appData = data
            })
    }
}
