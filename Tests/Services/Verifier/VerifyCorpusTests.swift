import AppStore
import Contracts
import Foundation
import Records
import Signatures
import Synchronization
import Testing

@testable import AppStoreSamples
@testable import Pipeline
@testable import Verifier

/// The stage with everything in the corpus, and what it means for the pipeline.
@Suite struct VerifyCorpusTests {
    private static let now = Date(timeIntervalSince1970: 1_780_000_000)
    private static let corpus = Result { try ForgeryCorpus(now: now) }

    private func stage(
        _ verifier: SignedDataVerifier, unknownApp: @escaping @Sendable (String) -> Void = { _ in }
    ) -> Verify {
        Verify(verifier: { verifier }, now: { Self.now }, cores: 2, unknownApp: unknownApp)
    }

    private func deliveries(_ payloads: [[UInt8]]) -> [Delivery<ReceivedNotification>] {
        payloads.enumerated().map { offset, payload in
            Delivery(
                message: ReceivedNotification(signedPayload: payload, source: .webhook, receivedAt: Self.now),
                position: LogPosition(topic: Topics.received.name, partition: 0, offset: Int64(offset)))
        }
    }

    private func reasons(_ results: [StageResult<VerifiedNotification, VerifyReason>]) -> [String?] {
        results.map { result in
            if case .deadLetter(let reason, _) = result { reason.rawValue } else { nil }
        }
    }

    @Test func `Verifier returns results in the order of its records`() async throws {
        let corpus = try Self.corpus.get()
        let items = corpus.all.filter { if case .notification = $0.door { true } else { false } }
        let results = try await stage(try corpus.material.verifier()).process(deliveries(items.map(\.jws)))
        #expect(reasons(results) == items.map { $0.expected?.rawValue })
    }

    // MARK: Rejection limit

    @Test func `Verifier counts nothing that another developer can send towards the rejection limit`() async throws {
        let corpus = try Self.corpus.get()
        let strangers = corpus.forgeries.filter { forgery in
            guard case .notification = forgery.door, let expected = forgery.expected else { return false }
            return !expected.isProven || expected == .appUnknown
        }
        #expect(strangers.count > 100)
        let results = try await stage(try corpus.material.verifier()).process(deliveries(strangers.map(\.jws)))
        #expect(results.count == strangers.count)
        var counter = RejectionCounter(RejectionLimit(consecutive: 1, ratio: 0, window: 1))
        #expect(counter.crossing(Self.numbered(results)) == nil)
    }

    @Test func `Verifier counts unusable payloads that Apple signed for a configured app, also between forgeries`()
        async throws
    {
        let material = try Self.corpus.get().material
        let verifier = try material.verifier()
        let subject = #""data":{"bundleId":"com.example.reader","appAppleId":1234567890,"environment":"Production"}"#
        let later = Int(Self.now.timeIntervalSince1970 + 10 * 86_400) * 1000
        let unusable: [(String, String)] = [
            ("body", #"{\#(subject),"notificationType":"TEST","notificationUUID":"another form"}"#),
            // The local clock is wrong.
            ("not-yet-valid", #"{\#(subject),"signedDate":\#(later)}"#),
        ]
        for (expected, json) in unusable {
            let jws = try material.signed(json: json)
            let payloads = (0..<9).flatMap { _ in [jws, Array("a.b.c".utf8), Array("a.b.c".utf8)] }
            let results = try await stage(verifier).process(deliveries(payloads))
            #expect(reasons(results).prefix(2) == [expected, "malformed"])
            var counter = RejectionCounter(RejectionLimit(consecutive: 9, ratio: 1, window: 1000))
            #expect(counter.crossing(Self.numbered(results))?.reason == expected)
        }
    }

    /// What distinguishes the records of a batch.
    private static func numbered<Result>(_ results: [Result]) -> [(Result, [UInt8])] {
        results.enumerated().map { ($1, withUnsafeBytes(of: $0) { Array($0) }) }
    }

    @Test func `Verifier is not stopped by old notifications of one purchase, sent 4,324 times`() async throws {
        let material = try Self.corpus.get().material
        let old = Self.now.addingTimeInterval(-500 * 86_400)
        // A signature has a twin that is valid as well, and Apple may sign several; all are of one purchase.
        let payloads = try (0..<3).map { number in
            var envelope = try material.envelope(material.transaction(), material.renewal())
            envelope.signedDate = old - Double(number)
            return try material.signed(envelope)
        }
        let results = try await stage(try material.verifier()).process(deliveries(payloads))
        #expect(reasons(results) == ["expired-at-signing", "expired-at-signing", "expired-at-signing"])
        var counter = RejectionCounter(RejectionLimit(consecutive: 2, ratio: 1, window: 1000))
        #expect(counter.crossing(Self.numbered((0..<1442).flatMap { _ in results })) == nil)
    }

    @Test
    func `Verifier does not count what customers have on their devices, though Apple signed it for a configured app`()
        async throws
    {
        let material = try Self.corpus.get().material
        let old = Self.now.addingTimeInterval(-500 * 86_400)
        let payloads = [
            try material.signed(material.transaction()), try material.signed(material.renewal()),
            try material.signed(material.transaction { $0.signedDate = old }),
            try material.signed(material.renewal { $0.signedDate = old }),
        ]
        let results = try await stage(try material.verifier()).process(deliveries(payloads))
        #expect(reasons(results) == ["body", "body", "expired-at-signing", "expired-at-signing"])
        var counter = RejectionCounter(RejectionLimit(consecutive: 1, ratio: 0, window: 1))
        #expect(counter.crossing(Self.numbered(results)) == nil)
    }

    // MARK: Registry

    @Test func `Verifier rejects a sandbox notification of a production-only app with that reason`() async throws {
        let material = try Self.corpus.get().material
        let jws = try material.signed(
            material.envelope {
                $0.data?.bundleId = ForgeryMaterial.productionOnly
                $0.data?.appAppleId = 77
                $0.data?.environment = .sandbox
            })
        let results = try await stage(try material.verifier()).process(deliveries([jws]))
        guard case .deadLetter(let reason, let message) = results.first else {
            Issue.record("it went on")
            return
        }
        // The reason is the label of storekeeper_stage_records_total.
        #expect(reason.rawValue == "environment")
        #expect(message.contains(ForgeryMaterial.productionOnly))
        #expect(message.contains("Sandbox"))
    }

    @Test func `Verifier names unknown apps from genuine payloads only`() async throws {
        let material = try Self.corpus.get().material
        let names = Mutex<[String]>([])
        let stage = stage(try material.verifier()) { name in names.withLock { $0.append(name) } }
        let genuine = try material.signed(material.envelope { $0.data?.bundleId = "com.example.other" })
        let forged = try CompactJWS.signed(
            headerJSON: CompactJWS.headerJSON(x5c: material.stranger.x5c),
            payloadJSON: material.envelope { $0.data?.bundleId = "com.example.evil" }.json,
            key: material.stranger.leafKey)
        _ = try await stage.process(deliveries([genuine, forged, genuine]))
        #expect(names.withLock(\.self) == ["com.example.other", "com.example.other"])
    }
}
