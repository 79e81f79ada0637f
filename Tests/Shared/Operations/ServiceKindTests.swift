import Foundation
import Testing

@testable import Operations

struct ServiceKindTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../..").standardizedFileURL

    @Test func `Network policies let exactly the services with a database role reach the database`() throws {
        let policies = try String(
            contentsOf: Self.root.appending(path: "Deploy/kubernetes/base/network-policies.yaml"), encoding: .utf8)
        let policy = try #require(
            policies.components(separatedBy: "---\n").first { $0.contains("name: some-to-postgres") })
        let values = try #require(policy.firstMatch(of: /values: \[(.*)\]/)?.1)
        let allowed = Set(values.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) })
        let owning = ServiceKind.allCases.filter { $0.databaseRole != nil }.map(\.rawValue)
        #expect(allowed == Set(owning + ["setup", "storekeeper"]))
    }
}
