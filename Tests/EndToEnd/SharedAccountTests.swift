import Commands
import Contracts
import Foundation
import Kafka
import Pipeline
import Testing

@testable import Devkit

extension EndToEnd {
    struct SharedAccountTests {
        @Test func `Two accounts of the app on one Apple account are logged and counted, once`() async throws {
            try await EndToEnd.withPipeline { services in
                let updater = try #require(await services.processes.running.first { $0.name == "state-updater" })
                let producer = try Producer(services.kafka, logger: .silent)
                let seal = try RecordSeal(file: services.processes.plan.recordKeysFile)
                // Two purchases of one customer of Apple's, each for another account, and news of the second.
                for (number, purchase) in [1, 2, 2].enumerated() {
                    try await producer.send([
                        seal.sealed(ProducerRecord(Topics.unique, Self.news(number, of: purchase)))
                    ])
                    try await EndToEnd.eventually("notification \(number) is applied") {
                        try await Self.metrics(of: updater).sum(
                            "storekeeper_ledger_outcomes_total", ["outcome": "inserted"]) == Double(number + 1)
                    }
                }
                await producer.close(deadline: .seconds(5))
                let counted = try await Self.metrics(of: updater)
                #expect(counted.sum("storekeeper_shared_accounts_total", ["app": Self.app]) == 1)
                let told = updater.process.logTail(lines: 200).split(separator: "\n").filter {
                    $0.contains("Two accounts of the app use one Apple account")
                }
                #expect(told.count == 1)
                #expect(told.first?.contains(Self.app) == true && told.first?.contains("Production") == true)
            }
        }

        private static func metrics(of instance: ServiceProcesses.Instance) async throws -> MetricsPage {
            MetricsPage(try await HTTPPage(at: instance.metricsURL).text)
        }

        private static let app = "com.example.app"

        /// What the deduplicator hands on.
        private static func news(_ number: Int, of purchase: Int) -> UniqueNotification {
            let signedAt: Int64 = 1_760_000_000_000 + Int64(number) * 60_000
            let uuid = UUID()
            let decoded = """
                {"notificationType":"SUBSCRIBED","subtype":"INITIAL_BUY","notificationUUID":"\(uuid.uuidString.lowercased())",
                "signedDate":\(signedAt),"data":{"bundleId":"\(app)","environment":"Production","status":1,
                "signedTransactionInfo":{"transactionId":"\(purchase)\(number)","originalTransactionId":"\(purchase)",
                "bundleId":"\(app)","productId":"gold","type":"Auto-Renewable Subscription","appTransactionId":"70",
                "purchaseDate":\(signedAt),"expiresDate":\(signedAt + 86_400_000),"signedDate":\(signedAt),
                "appAccountToken":"7e3fb204-2017-4a4e-8f3b-2f1a5d1f7a7\(purchase)"}}}
                """
            return UniqueNotification(
                VerifiedNotification(
                    notificationUUID: uuid, notificationType: "SUBSCRIBED", subtype: "INITIAL_BUY",
                    environment: .production, bundleId: app, appAppleId: 1, originalTransactionId: "\(purchase)",
                    transactionId: "\(purchase)\(number)", signedDate: Date(milliseconds: signedAt),
                    receivedAt: Date(milliseconds: signedAt), source: .webhook, traceparent: nil,
                    decoded: Array(decoded.utf8), signedPayload: Array("e30.e30.c2ln".utf8)
                ).record())
        }
    }
}
