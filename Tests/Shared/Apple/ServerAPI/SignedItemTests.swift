import Development
import Testing

@testable import AppStore
@testable import AppStoreSamples
@testable import ServerAPI

@Suite struct SignedItemTests {
    private static func prover(_ material: ForgeryMaterial) throws -> AnswerProver {
        AnswerProver(
            verifier: try material.verifier(), bundleId: ForgeryMaterial.bundleId, environment: .production,
            now: material.now)
    }

    private static func reason<Value>(_ item: SignedItem<Value>) -> VerificationFailureReason? {
        if case .failure(let rejection) = item.proof { rejection.reason } else { nil }
    }

    @Test func `Signed items of an answer are verified, and one that fails does not affect the rest of the page`()
        async throws
    {
        let material = try ForgeryMaterial(now: APIFixture.start)
        let good = try material.signed(material.transaction())
        let forged = try PayloadSigner(authority: material.stranger).sign(material.transaction().json)
        let texts = [good, forged, good].map { "\"" + String(decoding: $0, as: UTF8.self) + "\"" }
        let body = #"{"revision":"1","hasMore":false,"signedTransactions":["# + texts.joined(separator: ",") + "]}"
        try await APIFixture.scene { _, _ in
            .json(body)
        } _: { fixture, store in
            var client = fixture.client(store.url)
            client.verifier = try material.verifier()
            var items: [SignedItem<JWSTransactionDecodedPayload>] = []
            for try await page in client.transactionHistory(of: "1") { items += page.transactions }
            #expect(items.map { Self.reason($0) } == [nil, .chainUntrusted, nil])
            #expect(items.map { $0.value?.transactionId } == ["2000000987654321", nil, "2000000987654321"])
            #expect(items[0].jws == good)
        }
    }

    @Test func `SignedItem of another configured app, or another environment, is rejected`() throws {
        let material = try ForgeryMaterial(now: APIFixture.start)
        let prover = try Self.prover(material)
        let other = try material.signed(material.transaction { $0.bundleId = ForgeryMaterial.productionOnly })
        let sandbox = try material.signed(material.transaction { $0.environment = .sandbox })
        #expect(Self.reason(prover.transaction(other)) == .nestedMismatch)
        #expect(Self.reason(prover.transaction(sandbox)) == .nestedMismatch)
    }

    @Test func `Renewal information is held to its transaction`() throws {
        let material = try ForgeryMaterial(now: APIFixture.start)
        let prover = try Self.prover(material)
        let transaction = prover.transaction(try material.signed(material.transaction()))
        let own = prover.renewalInfo(try material.signed(material.renewal()), of: transaction)
        let foreign = prover.renewalInfo(
            try material.signed(material.renewal { $0.originalTransactionId = "2" }), of: transaction)
        let alone = prover.renewalInfo(try material.signed(material.renewal()), of: nil)
        let sandbox = prover.renewalInfo(
            try material.signed(material.renewal { $0.environment = .sandbox }), of: transaction)
        #expect(Self.reason(own) == nil && own.value?.originalTransactionId == "2000000123456789")
        #expect(Self.reason(foreign) == .nestedMismatch)
        #expect(Self.reason(alone) == nil)
        #expect(Self.reason(sandbox) == .nestedMismatch)
    }

    @Test func `App transaction is verified likewise`() throws {
        let material = try ForgeryMaterial(now: APIFixture.start)
        let prover = try Self.prover(material)
        var purchase = AppTransaction()
        purchase.receiptType = .production
        purchase.bundleId = ForgeryMaterial.bundleId
        purchase.appAppleId = ForgeryMaterial.appAppleId
        purchase.receiptCreationDate = material.now
        #expect(Self.reason(prover.appTransaction(try material.signed(purchase))) == nil)
        purchase.receiptType = .sandbox
        #expect(Self.reason(prover.appTransaction(try material.signed(purchase))) == .nestedMismatch)
    }
}
