import Foundation
import Testing

@testable import Devkit

extension EndToEnd {
    /// A system that an app moves from, and that has no export: it is asked over HTTP about one customer after another.
    struct OtherSystemTests {
        /// A difference, as the command lists it.
        private struct Difference: Decodable, Hashable {
            var customerId: String
            var entitlement: String
            var cause: String
            var originalTransactionId: String?
        }

        private struct Purchases: Decodable {
            struct Purchase: Decodable {
                var originalTransactionId: String
            }

            var purchases: [Purchase]
        }

        private static let question = #"""
            set -eo pipefail
            tail -n +2 export.csv | cut -d, -f2 | sort -u >ids.txt
            echo sk_1 >key
            storekeeper compare ask ids.txt --system revenuecat --key-file key --app com.example.app --rate 100 \
                --url "$SIMULATOR_URL/other-system/revenuecat"
            """#

        /// The differences of a file at the moment of the export, about purchases by command: those at which the other system is wrong.
        private static func differences(
            of file: String, among purchases: Set<String>, in dev: RunningDev
        ) async throws -> Set<Difference> {
            let run = try await dev.shell(
                #"""
                app="--app com.example.app --environment Production"
                moment=$(date -u -r export.csv +%Y-%m-%dT%H:%M:%SZ)
                storekeeper compare \#(file) $app --ask 0 --taken-at "$moment" >/dev/null || [ $? -eq 1 ] || exit 9
                storekeeper compare list $app --limit 100000 --json
                """#)
            #expect(run.ending == .exit(0), "\(run.log)")
            let all = try JSONDecoder().decode([Difference].self, from: Data(run.text.utf8))
            return Set(all.filter { $0.originalTransactionId.map(purchases.contains) ?? false })
        }

        @Test func `Answers about each customer have the differences that the other system's export has`() async throws
        {
            try await RunningDev.use { dev in
                _ = try await dev.lines(2, with: "curl .*/entitlements")
                let export = try await dev.shell(
                    "storekeeper simulator export export.csv --environment Production --differences 2")
                #expect(export.ending == .exit(0), "\(export.log)")
                let listed = try await dev.shell("storekeeper simulator purchases --json")
                let purchases = try JSONDecoder().decode(Purchases.self, from: Data(listed.text.utf8)).purchases
                let ids = Set(purchases.map(\.originalTransactionId))
                func differences(of file: String) async throws -> Set<Difference> {
                    try await Self.differences(of: file, among: ids, in: dev)
                }
                // What the export's customers bought is stored a moment later.
                let deadline = ContinuousClock.now + .seconds(90)
                var (before, exported) = (Set<Difference>(), try await differences(of: "export.csv"))
                while exported.count < 14 || exported != before, ContinuousClock.now < deadline {
                    (before, exported) = (exported, try await differences(of: "export.csv"))
                }
                let asked = try await dev.shell(Self.question)
                #expect(asked.ending == .exit(0), "\(asked.text)\n\(asked.log)")
                let answered = try await differences(of: "ids.txt.answers.csv")
                #expect(exported == answered)
                let causes = Set(exported.map(\.cause))
                let wanted: Set = ["gracePeriod", "billingRetry", "refundInFull", "refundReversed", "unexplained"]
                #expect(causes.isSuperset(of: wanted), "\(causes)")
            }
        }
    }
}
