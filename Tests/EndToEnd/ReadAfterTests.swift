import AppStore
import AsyncHTTPClient
import Commands
import Development
import Foundation
import Postgres
import Signatures
import TestSupport
import Testing

@testable import Devkit
@testable import Operations

extension EndToEnd {
    /// Reads that must see an upload, from any of three instances of the API, while processes are killed.
    struct ReadAfterTests {
        @Test func `API never answers older than an upload, while it, the state-updater and Postgres are killed`()
            async throws
        {
            try await Self.withServices { services in
                let backend = try await Backend(services)
                try await backend.isAccepted()
                let uploads = (0..<4).map { number in
                    Task { while !Task.isCancelled { await backend.buy(number) } }
                }
                for _ in 0..<2 {
                    try await backend.goesOn()
                    try await services.processes.kill("api-1")
                    try await backend.goesOn()
                    try await services.processes.restart("api-1")
                    try await services.processes.kill("state-updater")
                    try await backend.goesOnWithoutState()
                    try await services.processes.restart("state-updater")
                    try await backend.goesOn()
                    try await Self.killPostgres(services)
                }
                try await backend.goesOn()
                for upload in uploads { upload.cancel() }
                for upload in uploads { await upload.value }
                #expect(await backend.older == [])
                // What was recorded is there in the end, everywhere.
                for (account, purchase) in await backend.recorded {
                    for address in backend.addresses {
                        try await EndToEnd.eventually("\(address) has \(purchase)") {
                            try await backend.entitlements(of: account, at: address)?.text.contains(purchase) == true
                        }
                    }
                }
            }
        }

        /// On a Postgres of its own, because its processes are killed.
        private static func withServices(
            _ body: @escaping @Sendable (DevelopmentEnvironment.RunningServices) async throws -> Void
        ) async throws {
            var environment = ProcessInfo.processInfo.environment
            environment["DATABASE_URL"] = nil
            environment["KAFKA_SESSION_TIMEOUT_MS"] = "4000"
            environment["KAFKA_HEARTBEAT_INTERVAL_MS"] = "500"
            try await DevelopmentEnvironment(
                binaries: EndToEnd.binaries, environment: environment, counts: [.api: 3], now: { Date() }
            ).use(telling: { _ in }, body)
        }

        /// Of a process that is killed the server ends all others, and recovers as after a crash of the machine.
        private static func killPostgres(_ services: DevelopmentEnvironment.RunningServices) async throws {
            let connection = TestDatabase.connection(
                PostgresConfiguration(url: services.databaseURL, applicationName: "storekeeper-tests"))
            let rows = try await connection.execute(
                unsafeSQL: """
                    select pid from pg_stat_activity
                    where backend_type = 'client backend' and pid <> pg_backend_pid()
                    order by pid
                    limit 1
                    """)
            let process: Int32 = try #require(rows.first).value("pid")
            #expect(Foundation.kill(process, SIGKILL) == 0)
            await connection.close()
        }
    }

    /// An app's backend before a load balancer that sends each request to any instance.
    private actor Backend {
        struct Answer: Sendable {
            var status: Int
            var isBehind: Bool
            var text: String
        }

        /// Tries another instance where one does not accept the connection: it is killed, and waiting for it would stop all uploads.
        private static let client = {
            var configuration = HTTPClient.Configuration()
            configuration.connectionPool.retryConnectionEstablishment = false
            return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        }()

        nonisolated let addresses: [String]
        private let key: String
        private let header: [UInt8]
        private let authority: DevelopmentAuthority
        private var purchases = 0
        private(set) var recorded: [(account: UUID, purchase: String)] = []
        /// Reads that saw their upload.
        private var seen = 0
        /// Answers that lacked an upload and did not say so.
        private(set) var older: [String] = []

        init(_ services: DevelopmentEnvironment.RunningServices) async throws {
            let ports = await services.processes.running.filter { $0.kind == .api }.compactMap(\.port)
            addresses = ports.map { "http://127.0.0.1:\($0)" }
            key = try await DevelopmentKey(databaseURL: services.databaseURL, now: Date()).create()
            authority = try DevelopmentAuthority.loadOrCreate(
                in: URL(fileURLWithPath: services.processes.plan.authority), now: Date())
            header = CompactJWS.headerJSON(
                x5c: [authority.leaf, authority.intermediate, authority.root].map {
                    Data($0).base64EncodedString()
                })
        }

        /// Waits until every instance knows the key.
        nonisolated func isAccepted() async throws {
            for address in addresses {
                try await EndToEnd.eventually("\(address) accepts the key") {
                    try await entitlements(of: UUID(), at: address)?.status == 200
                }
            }
        }

        /// Waits until further uploads were seen by the reads after them.
        nonisolated func goesOn() async throws {
            let before = await seen
            try await EndToEnd.eventually("reads see their uploads") {
                _ = try? await HTTPPage(at: addresses[1] + "/openapi.json")
                return await seen >= before + 5
            }
        }

        /// Waits until further uploads were recorded.
        nonisolated func goesOnWithoutState() async throws {
            let before = await recorded.count
            try await EndToEnd.eventually("uploads are recorded") {
                _ = try? await HTTPPage(at: addresses[1] + "/openapi.json")
                return await recorded.count >= before + 5
            }
        }

        /// A purchase in the app, uploaded, and read at any instance.
        func buy(_ number: Int) async {
            purchases += 1
            let purchase = "7\(number)\(String(repeating: "0", count: 6))\(purchases)"
            let account = UUID()
            do {
                let now = Int64(Date().timeIntervalSince1970 * 1000)
                let payload = """
                    {"transactionId":"\(purchase)","originalTransactionId":"\(purchase)","bundleId":"com.example.app",
                    "productId":"pro.monthly","type":"Auto-Renewable Subscription","subscriptionGroupIdentifier":"1",
                    "purchaseDate":\(now),"originalPurchaseDate":\(now),"expiresDate":\(now + 86_400_000),"quantity":1,
                    "appAccountToken":"\(account.uuidString.lowercased())","inAppOwnershipType":"PURCHASED",
                    "signedDate":\(now),"environment":"Sandbox","transactionReason":"PURCHASE"}
                    """
                let signed = try CompactJWS.signed(
                    headerJSON: header, payloadJSON: Array(payload.utf8), key: authority.leafKey)
                guard let token = try await upload(signed, of: account) else { return }
                recorded.append((account, purchase))
                guard let address = addresses.randomElement(),
                    let answer = try await entitlements(of: account, at: address, after: token), answer.status == 200,
                    !answer.isBehind
                else { return }
                if answer.text.contains(purchase) { seen += 1 } else { older.append("\(purchase): \(answer.text)") }
            } catch {
                // No answer at all: the process was killed.
            }
        }

        /// - Returns: the token of a read after it; nil where it was not recorded.
        private func upload(_ signed: [UInt8], of account: UUID) async throws -> String? {
            struct Uploaded: Decodable { var readAfter: String? }
            guard let address = addresses.randomElement() else { return nil }
            var request = HTTPClientRequest(url: address + "/v1/transactions")
            request.method = .POST
            request.headers.add(name: "Authorization", value: "Bearer \(key)")
            request.headers.add(name: "Content-Type", value: "application/json")
            request.body = .bytes(
                Array(
                    """
                    {"bundleId":"com.example.app","appAccountToken":"\(account.uuidString)",
                    "signedTransactions":["\(String(decoding: signed, as: UTF8.self))"]}
                    """.utf8))
            let response = try await Self.client.execute(request, timeout: .minutes(10))
            let text = String(buffer: try await response.body.collect(upTo: 1 << 20))
            guard response.status.code == 200 else { return nil }
            return try JSONDecoder().decode(Uploaded.self, from: Data(text.utf8)).readAfter
        }

        /// Nil where the instance does not answer.
        nonisolated func entitlements(
            of account: UUID, at address: String, after token: String? = nil
        ) async throws -> Answer? {
            var request = HTTPClientRequest(
                url: "\(address)/v1/accounts/\(account.uuidString.lowercased())/entitlements")
            request.headers.add(name: "Authorization", value: "Bearer \(key)")
            if let token { request.headers.add(name: "Storekeeper-Read-After", value: token) }
            guard let response = try? await Self.client.execute(request, timeout: .minutes(10)) else {
                return nil
            }
            let text = String(buffer: try await response.body.collect(upTo: 1 << 20))
            return Answer(
                status: Int(response.status.code),
                isBehind: response.headers.first(name: "Storekeeper-Read-After") == "behind", text: text)
        }
    }
}
