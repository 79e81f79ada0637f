import Contracts
import Foundation
import StrictJSON
import TestSupport
import Testing

@testable import SimulatedAppStore

/// Simulated apps post what StoreKit signed for them to a URL of their developer.
@Suite struct UploadsTests {
    @Test(arguments: [UploadPlan.Moment.before, .after])
    func `App uploads its purchase before or after the notification`(moment: UploadPlan.Moment) async throws {
        let run = try await Self.run(UploadPlan(share: 1, moment: moment))
        #expect(run.uploads.count > 20)
        #expect(run.requests.count == 200)
        for upload in run.uploads {
            let claims = try Self.transaction(in: upload.body)
            let id = try #require(claims["transactionId"]?.string)
            let place = try #require(try run.requests.firstIndex { try Self.purchase(in: $0.body) == id })
            #expect((upload.requestsBefore <= place) == (moment == .before))
        }
    }

    @Test func `Upload instead of a notification is all that the backend gets`() async throws {
        let run = try await Self.run(UploadPlan(share: 1, moment: .instead))
        #expect(run.requests.count + run.uploads.count == 200)
        #expect(run.record.uploads.count == run.uploads.count)
        #expect(run.record.uploads.allSatisfy { $0.moment == "instead" && $0.status == 200 })
        let uploaded = Set(run.record.uploads.map(\.uuid))
        #expect(uploaded.isDisjoint(with: run.record.notifications.map(\.uuid)))
        #expect(run.tally.uploads == ["200": run.uploads.count])
    }

    @Test func `Upload names the app and the account, is signed, and has the key of its environment`() async throws {
        let run = try await Self.run(UploadPlan(share: 1, moment: nil), keys: [.production: "key-of-production"])
        let verifier = try NotificationSignerTests.verifier()
        var accounts = 0
        for upload in run.uploads {
            #expect(upload.authorization == "Bearer key-of-production")
            let body = try JSONDocument(upload.body).root
            #expect(body["bundleId"]?.string == "com.example.one")
            let jws = try #require(body["signedTransactions"]?.elements.first?.string)
            guard
                case .transaction(let part) = try verifier.part(
                    Array(jws.utf8), claimedApp: nil, now: NotificationSignerTests.now
                ).get()
            else { return _ = Issue.record("no transaction") }
            #expect(part.value.appAccountToken == body["appAccountToken"]?.string)
            if part.value.appAccountToken != nil { accounts += 1 }
        }
        #expect(Set(run.record.uploads.map(\.moment)) == ["before", "after", "instead"])
        #expect(accounts > 0)
    }

    @Test func `App without a key of its environment uploads nothing, and every notification is sent`() async throws {
        let run = try await Self.run(UploadPlan(share: 1, moment: .instead), keys: [.sandbox: "sk_test_1"])
        #expect(run.uploads.isEmpty)
        #expect(run.requests.count == 200)
    }

    @Test func `Uploads change nothing of the notifications`() async throws {
        let plain = try await Self.run(nil)
        let uploading = try await Self.run(UploadPlan(share: 0.5, moment: .before))
        #expect(plain.record.notifications.map(\.uuid) == uploading.record.notifications.map(\.uuid))
    }

    @Test(arguments: ["sk_test_1", "Nowhere:sk_test_1", "Sandbox:"])
    func `Key without its environment is rejected`(key: String) {
        #expect(throws: (any Error).self) {
            try UploadOptions.parse(["--upload-url", "http://127.0.0.1:1/", "--upload-key", key])
        }
    }

    private struct Run {
        var requests: [Receiver.Request]
        var uploads: [Receiver.Upload]
        var record: RunRecord
        var tally: Tally
    }

    /// One delivery after the other, so that the order of arrivals is the order of sending.
    private static func run(_ uploads: UploadPlan?, keys: [StoreEnvironment: String] = [:]) async throws -> Run {
        var plan = Plan(apps: [PopulationTests.apps[0]], count: 200)
        plan.concurrency = 1
        plan.uploads = uploads
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let path = directory.path("record.jsonl")
        let writer = try RunRecordWriter(path: path)
        let client = Target.client(concurrency: 1)
        let (tally, receiver) = try await Receiver.listening { [plan] receiver, address in
            let simulate = Simulate(
                plan: plan, signer: try NotificationSignerTests.signer(),
                target: Target(client: client, url: address + "/v1/notifications", timeout: .seconds(30)),
                record: writer, backlog: nil, stop: StopSwitch(), present: { NotificationSignerTests.now },
                now: { NotificationSignerTests.now },
                uploadTarget: UploadTarget(
                    target: Target(client: client, url: address + "/v1/transactions", timeout: .seconds(30)), keys: keys
                ))
            return (try await simulate.run(), receiver)
        }
        try await client.shutdown()
        try writer.close()
        let record = try RunRecord(reading: Array(Data(contentsOf: URL(fileURLWithPath: path))))
        return Run(requests: receiver.requests, uploads: receiver.uploads, record: record, tally: tally)
    }

    private static func transaction(in body: [UInt8]) throws -> JSONValue {
        let jws = try #require(try JSONDocument(body).root["signedTransactions"]?.elements.first?.string)
        return try NotificationSignerTests.claims(of: Array(jws.utf8))
    }

    /// The transaction of a notification; nil where it holds none.
    private static func purchase(in body: [UInt8]) throws -> String? {
        let payload = try #require(try JSONDocument(body).root["signedPayload"]?.string)
        let claims = try NotificationSignerTests.claims(of: Array(payload.utf8))
        guard let jws = claims["data"]?["signedTransactionInfo"]?.string else { return nil }
        return try NotificationSignerTests.claims(of: Array(jws.utf8))["transactionId"]?.string
    }
}
