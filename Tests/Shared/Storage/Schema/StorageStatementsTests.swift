import Foundation
import Postgres
import Storage
import TestSupport
import Testing

@Suite struct StorageStatementsTests {
    @Test func `The migrated schema accepts every statement`() async throws {
        try await TestDatabase.connected { connection async throws in
            for statement in StorageStatements.all {
                await #expect(throws: Never.self, "\(statement.name ?? "?")") {
                    try await connection.prepare(statement)
                }
            }
        }
    }

    @Test func `Statements have different names`() {
        #expect(Set(StorageStatements.all.map(\.name)).count == StorageStatements.all.count)
    }

    @Test func `Every named statement of the sources is listed`() throws {
        let sources = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../../Shared/Storage").standardizedFileURL
        let files = try #require(FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil))
            .compactMap { $0 as? URL }.filter { $0.pathExtension == "swift" }
        var names: Set<String> = []
        for file in files {
            let text = try String(contentsOf: file, encoding: .utf8)
            for match in text.matches(of: #/\bStatement\(\s*"([a-z0-9-]+)"/#) { names.insert(String(match.1)) }
        }
        #expect(names.count > 400)
        #expect(names.subtracting(StorageStatements.all.compactMap(\.name)).sorted() == [])
    }
}
