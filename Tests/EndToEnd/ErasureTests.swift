import AppStore
import AsyncHTTPClient
import Commands
import Contracts
import Development
import Foundation
import Kafka
import Postgres
import Records
import Signatures
import Storage
import TestSupport
import Testing

@testable import Devkit
@testable import Operations

extension EndToEnd {
    /// What is left of a customer who asked to be forgotten, in every table and every topic.
    struct ErasureTests {
        @Test func `After an erasure no table names the customer, and topics only until the certificate says`()
            async throws
        {
            try await EndToEnd.withPipeline { services in
                let shop = try await Shop(services)
                let token = try await shop.customer("user-4711")
                try await shop.upload("71000000000001", of: token, day: 0)
                try await shop.notify("SUBSCRIBED", "71000000000002", of: token, day: 0)
                try await shop.isApplied(2)
                let way: Set = [Topics.received.name, Topics.verified.name, Topics.unique.name]
                #expect(way.isSubset(of: try await shop.records(naming: token).map(\.topic)))
                try await EndToEnd.eventually("messages about both purchases name the account") {
                    try await shop.records(naming: token).count { $0.topic == Topics.changed.name } == 2
                }
                #expect(try await shop.tables(naming: token).count >= 6)
                #expect(try await !shop.tables(naming: "user-4711").isEmpty)

                let (erasedAt, topicsUntil) = try await shop.erase("user-4711")
                #expect(try await shop.tables(naming: token) == [])
                #expect(try await shop.tables(naming: "user-4711") == [])

                // Apple's later notifications and the app's uploads still have the token.
                try await shop.upload("71000000000001", of: nil, named: token, day: 0)
                try await shop.notify("DID_RENEW", "71000000000002", of: token, day: 1)
                try await shop.isApplied(4)
                let count = try await shop.records(Topics.changed.route).count
                try await shop.notify("SUBSCRIBED", "71000000000003", of: UUID(), day: 0)
                try await EndToEnd.eventually("what came before the other customer is published") {
                    try await shop.records(Topics.changed.route).count > count
                }
                #expect(try await shop.tables(naming: token) == [])
                for record in try await shop.records(naming: token) {
                    let writtenAt = try #require(record.timestamp)
                    let retention = try #require(Topics.all.first { $0.name == record.topic }).retention / .seconds(1)
                    if writtenAt < erasedAt {
                        let segment = 7 * 86_400.0
                        #expect(writtenAt.addingTimeInterval(segment + retention) <= topicsUntil, "\(record.topic)")
                    } else {
                        // Payloads of Apple's on their way, which no one but Storekeeper reads.
                        #expect(way.contains(record.topic))
                    }
                }
                for route in Topics.all {
                    let names = try await shop.records(route).contains { Self.names($0, "user-4711") }
                    #expect(!names, "the developer's own id is in \(route.name)")
                }
            }
        }

        /// Whether a record has a text in key, headers or value, there also inside signed objects.
        static func names(_ record: ConsumerRecord, _ text: String) -> Bool {
            ([record.key ?? [], record.value] + record.headers.map(\.value)).contains { holds($0, text) }
        }

        private static func holds(_ bytes: [UInt8], _ text: String) -> Bool {
            let string = String(decoding: bytes, as: UTF8.self).lowercased()
            if string.contains(text.lowercased()) { return true }
            // The payload of a JWS, and those inside it.
            return String(decoding: bytes, as: UTF8.self).matches(of: /\.([A-Za-z0-9_-]{16,})\./).contains { match in
                let encoded = String(match.1).replacing("-", with: "+").replacing("_", with: "/")
                let padded = encoded + String(repeating: "=", count: (4 - encoded.count % 4) % 4)
                return Data(base64Encoded: padded).map { holds(Array($0), text) } ?? false
            }
        }
    }

    /// A backend and Apple, before the running services.
    private struct Shop {
        private static let app = "com.example.app"
        private let services: DevelopmentEnvironment.RunningServices
        private let address: String
        private let target: String
        private let key: String
        private let authority: DevelopmentAuthority
        private let ledger: LedgerReader

        init(_ services: DevelopmentEnvironment.RunningServices) async throws {
            self.services = services
            let port = try #require(await services.processes.running.first { $0.kind == .api }?.port)
            address = "http://127.0.0.1:\(port)"
            target = try #require(await services.processes.target)
            key = try await DevelopmentKey(databaseURL: services.databaseURL, now: Date()).create()
            authority = try DevelopmentAuthority.loadOrCreate(
                in: URL(fileURLWithPath: services.processes.plan.authority), now: Date())
            ledger = EndToEnd.ledger(of: services)
        }

        // MARK: The backend

        /// The token of a new customer.
        func customer(_ id: String) async throws -> UUID {
            struct Customer: Decodable { var appAccountToken: UUID }
            try await EndToEnd.eventually("the key is accepted") {
                try await send("GET", "/v1/customers/unknown").status == 404
            }
            let answer = try await send("PUT", "/v1/customers/\(id)", "{}")
            return try JSONDecoder().decode(Customer.self, from: answer.body).appAccountToken
        }

        /// - Parameters:
        ///   - account: that uploads.
        ///   - named: in the transaction; nil is the account.
        func upload(_ purchase: String, of account: UUID?, named: UUID? = nil, day: Int) async throws {
            let signed = try signed(transaction(purchase, of: try #require(named ?? account), day: day))
            let claimant = account.map { #""appAccountToken":"\#($0)","# } ?? ""
            let answer = try await send(
                "POST", "/v1/transactions",
                #"{"bundleId":"\#(Self.app)",\#(claimant)"signedTransactions":["\#(signed)"]}"#)
            #expect(answer.status == 200, "\(String(decoding: answer.body, as: UTF8.self))")
        }

        /// When the customer was erased, and when Kafka has deleted all from before.
        func erase(_ id: String) async throws -> (at: Date, topicsUntil: Date) {
            struct Certificate: Decodable {
                var erasedAt: Double
                var topicsUntil: Double
            }
            let answer = try await send("POST", "/v1/customers/\(id)/erasure", #"{"extent":"erase"}"#)
            #expect(answer.status == 200, "\(String(decoding: answer.body, as: UTF8.self))")
            let certificate = try JSONDecoder().decode(Certificate.self, from: answer.body)
            return (
                Date(timeIntervalSince1970: certificate.erasedAt / 1000),
                Date(timeIntervalSince1970: certificate.topicsUntil / 1000)
            )
        }

        private func send(_ method: String, _ path: String, _ body: String? = nil) async throws -> (
            status: Int, body: Data
        ) {
            let query = path.contains("/customers/") ? "?bundleId=\(Self.app)" : ""
            var request = HTTPClientRequest(url: address + path + query)
            request.method = .RAW(value: method)
            request.headers.add(name: "Authorization", value: "Bearer \(key)")
            if let body {
                request.headers.add(name: "Content-Type", value: "application/json")
                request.body = .bytes(Array(body.utf8))
            }
            let answer = try await HTTPClient.shared.execute(request, timeout: .minutes(10))
            return (Int(answer.status.code), Data(buffer: try await answer.body.collect(upTo: 1 << 20)))
        }

        // MARK: Apple

        func notify(_ type: String, _ purchase: String, of account: UUID, day: Int) async throws {
            let payload = """
                {"notificationType":"\(type)","notificationUUID":"\(UUID().uuidString.lowercased())","version":"2.0",
                "signedDate":\(milliseconds()),"data":{"bundleId":"\(Self.app)","environment":"Sandbox","status":1,
                "signedTransactionInfo":"\(try signed(transaction(purchase, of: account, day: day)))"}}
                """
            var request = HTTPClientRequest(url: target)
            request.method = .POST
            request.headers.add(name: "Content-Type", value: "application/json")
            request.body = .bytes(Array(#"{"signedPayload":"\#(try signed(payload))"}"#.utf8))
            #expect(try await HTTPClient.shared.execute(request, timeout: .minutes(10)).status == .ok)
        }

        private func milliseconds() -> Int64 { Int64(Date().timeIntervalSince1970 * 1000) }

        private func transaction(_ purchase: String, of account: UUID, day: Int) -> String {
            let now = milliseconds()
            return """
                {"transactionId":"\(purchase)\(day)","originalTransactionId":"\(purchase)","bundleId":"\(Self.app)",
                "productId":"pro.monthly","type":"Auto-Renewable Subscription","subscriptionGroupIdentifier":"1",
                "purchaseDate":\(now),"originalPurchaseDate":\(now),"expiresDate":\(now + Int64(day + 1) * 86_400_000),
                "quantity":1,"appAccountToken":"\(account.uuidString.lowercased())","inAppOwnershipType":"PURCHASED",
                "signedDate":\(now),"environment":"Sandbox","transactionReason":"PURCHASE","appTransactionId":"7047"}
                """
        }

        private func signed(_ payload: String) throws -> String {
            let header = CompactJWS.headerJSON(
                x5c: [authority.leaf, authority.intermediate, authority.root].map { Data($0).base64EncodedString() })
            return String(
                decoding: try CompactJWS.signed(
                    headerJSON: header, payloadJSON: Array(payload.utf8), key: authority.leafKey), as: UTF8.self)
        }

        // MARK: What is stored

        /// Waits until the ledger has so many notifications, signed objects of uploads included.
        func isApplied(_ count: Int) async throws {
            try await EndToEnd.eventually("\(count) are applied") { try await ledger.count() >= count }
        }

        /// The tables with a row that has the text, in text or in bytes.
        func tables(naming name: some CustomStringConvertible) async throws -> [String] {
            let name = "\(name)".lowercased()
            let hex = name.utf8.map { String(format: "%02x", $0) }.joined()
            let tables = try await ledger.connection.execute(
                Statement(
                    "test-tables",
                    """
                    select table_schema || '.' || quote_ident(table_name) as name
                    from information_schema.tables
                    where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')
                    """))
            #expect(tables.count > 20)
            var found: [String] = []
            for table in tables {
                let table: String = try table.value("name")
                let rows = try await ledger.connection.execute(
                    unsafeSQL: """
                        select from \(table) as row
                        where row::text ilike '%' || $1::text || '%' or row::text ilike '%' || $2::text || '%'
                        """, name, hex)
                if rows.affected > 0 { found.append(table) }
            }
            return found
        }

        func records(_ route: Route) async throws -> [ConsumerRecord] {
            try await WrittenRecords.of(route, at: services.kafka)
        }

        func records(naming token: UUID) async throws -> [ConsumerRecord] {
            var found: [ConsumerRecord] = []
            for route in Topics.all {
                found += try await records(route).filter { ErasureTests.names($0, token.uuidString) }
            }
            return found
        }
    }
}
