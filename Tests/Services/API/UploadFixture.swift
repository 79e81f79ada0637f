import AppStore
import Chassis
import Contracts
import Development
import Foundation
import Interpretation
import Kafka
import Operations
import Pipeline
import Postgres
import Records
import ServerAPI
import Signatures
import Storage
import StrictJSON
import Subscriptions
import TestSupport
import Testing

@testable import API
@testable import AppStoreSamples

/// The API before a broker, with keys and certificates that its prover trusts.
struct UploadFixture: Sendable {
    static let now = Date(timeIntervalSince1970: 1_765_000_000)
    static let corpus = Result { try ForgeryCorpus(now: now) }

    let api: RunningAPI
    let broker: DevelopmentBroker
    let material: ForgeryMaterial
    let key: String

    /// - Parameter isKafkaAway: the producer's broker does not answer.
    static func with(
        isKafkaAway: Bool = false, apple: APIClients? = nil, verifyReceipt: VerifyReceiptClient? = nil,
        setsAccountTokens: Bool = false, needsOfferRule: Bool = true, claimAge: Double = 72 * 3600,
        rejections: Int = 100_000,
        questions: Int = 100_000,
        lane: WorkLane = WorkLane(threads: 1),
        _ body: (UploadFixture) async throws -> Void
    ) async throws {
        let material = try corpus.get().material
        let broker = try DevelopmentBroker(topics: [(Topics.received.name, 1)], logger: .quiet)
        let producer = try Producer(
            isKafkaAway ? KafkaConfiguration(bootstrapServers: "127.0.0.1:1", overrides: [:]) : broker.configuration,
            messageTimeout: isKafkaAway ? .milliseconds(300) : .seconds(60), logger: .quiet)
        let verifier = try material.verifier()
        let services = UploadServices(
            verifier: { verifier },
            record: { try await producer.send($0.map { ProducerRecord(Topics.received, $0) }) }, apple: apple,
            verifyReceipt: verifyReceipt, setsAccountTokens: setsAccountTokens, needsOfferRule: needsOfferRule,
            claimAge: claimAge,
            rejections: RateLimiter(quota: rejections), questions: QuestionBudget(quota: questions), lane: lane)
        try await RunningAPI.with(uploads: services) { api in
            let key = try await api.key(environment: .production)
            try await body(UploadFixture(api: api, broker: broker, material: material, key: key))
        }
        await producer.close(deadline: .zero)
    }

    func post(_ path: String = "/v1/transactions", key: String? = nil, _ write: (inout JSONWriter) -> Void)
        async throws -> RunningAPI.Answer
    {
        var json = JSONWriter()
        json.beginObject()
        json.member("bundleId", ForgeryMaterial.bundleId)
        write(&json)
        json.endObject()
        return try await api.send("POST", path, key: key ?? self.key, body: json.bytes)
    }

    func upload(
        _ parts: [[UInt8]], to path: String = "/v1/transactions", of account: UUID? = nil,
        as name: String = "signedTransactions"
    ) async throws -> RunningAPI.Answer {
        try await post(path) { json in
            if let account { json.member("appAccountToken", account.uuidString) }
            json.beginArray(name)
            for part in parts { json.element(String(decoding: part, as: UTF8.self)) }
            json.endArray()
        }
    }

    func setPolicy(_ policy: SharingPolicy, needsDevice: Bool = false, mostAccounts: Int? = nil) async throws {
        let connection = TestDatabase.connection(api.database)
        try await SharingStore(connection).setPolicy(
            policy, needsDevice: needsDevice, mostAccounts: mostAccounts, of: ForgeryMaterial.bundleId,
            in: .production, at: Self.now)
        await connection.close()
    }

    /// The first payloads that were uploaded, as many as asked for, in their order.
    func records(_ count: Int) async throws -> [ReceivedNotification] {
        try await broker.messages(of: Topics.received, partitions: 1, count: count)
    }

    /// What verifier and state-updater do with records, in one step.
    func apply(_ received: [ReceivedNotification]) async throws {
        let verifier = try material.verifier()
        let entries = try received.map { received in
            let part = try verifier.part(received.signedPayload, claimedApp: received.bundleId, now: Self.now).get()
            let verified = try #require(VerifiedNotification(part, received))
            return try LedgerEntry(verified, position: LogPosition(topic: "t", partition: 0, offset: 0))
        }
        let connection = TestDatabase.connection(api.database)
        _ = try await LedgerStore(connection).apply(entries, moving: [], recordedAt: Self.now)
        await connection.close()
    }

    /// As the upload puts it on the topic.
    func received(_ signed: [UInt8]) -> ReceivedNotification {
        ReceivedNotification(
            signedPayload: signed, source: .upload, receivedAt: Self.now, bundleId: ForgeryMaterial.bundleId)
    }

    /// A monthly subscription that runs.
    func transaction(
        _ id: String = "2000000000000001", of account: UUID? = nil,
        _ change: (inout JWSTransactionDecodedPayload) -> Void = { _ in }
    ) throws -> [UInt8] {
        try material.signed(
            material.transaction { transaction in
                transaction.originalTransactionId = id
                transaction.transactionId = id
                transaction.appTransactionId = nil
                transaction.appAccountToken = account?.uuidString.lowercased()
                change(&transaction)
            })
    }

    func entitlements(of account: UUID, after token: String? = nil) async throws -> RunningAPI.Answer {
        try await api.get(
            "/v1/accounts/\(account.uuidString.lowercased())/entitlements?bundleId=\(ForgeryMaterial.bundleId)",
            key: key, headers: token.map { ["Storekeeper-Read-After": $0] } ?? [:])
    }
}

extension JSONWriter {
    /// A transaction of production that Apple is to be asked about.
    mutating func transaction(_ id: String) {
        objects("transactionIds", of: [id]) { json, id in
            json.member("transactionId", id)
            json.member("environment", "Production")
        }
    }
}

extension RunningAPI.Answer {
    /// The reasons of rejected parts.
    var rejected: [String] { json?["rejected"]?.elements.compactMap { $0["reason"]?.string } ?? [] }
    /// The evidence of each accepted part.
    var claims: [String] { json?["accepted"]?.elements.compactMap { $0["claim"]?.string } ?? [] }
    var accepted: Int { json?["accepted"]?.elements.count ?? 0 }
    /// What gives access, as it stands in the answer.
    var access: String { String(decoding: json?["entitlements"]?.rawBytes ?? [], as: UTF8.self) }
}
