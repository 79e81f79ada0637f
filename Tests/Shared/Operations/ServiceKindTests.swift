import Foundation
import Storage
import Testing

@testable import Operations

struct ServiceKindTests {
    /// A line of the table of services, from which Deploy/generate writes the files of docker compose, Kubernetes and Prometheus.
    private struct Line: Decodable {
        var name: String
        var port: Int?
        var reads: [String]
        var database: Bool
        var replicas: Int
    }

    private static let table = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../../Deploy/services.json").standardizedFileURL

    @Test func `Table of services says of each service what the code says`() throws {
        let lines = try JSONDecoder().decode([Line].self, from: Data(contentsOf: Self.table))
        #expect(Set(lines.map(\.name)) == Set(ServiceKind.allCases.map(\.rawValue)))
        for line in lines {
            let kind = try #require(ServiceKind(rawValue: line.name))
            #expect((line.port != nil) == kind.isServer, "\(line.name): port")
            #expect(line.reads == kind.readings.map(\.route.name), "\(line.name): reads")
            #expect((line.replicas == 0) == kind.isOptional, "\(line.name): replicas")
            let role = "storekeeper_" + line.name.replacing("-", with: "_")
            #expect((line.database ? role : nil) == kind.databaseRole?.rawValue, "\(line.name): database")
        }
    }
}
