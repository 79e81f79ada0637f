import Foundation
import Testing

@testable import Devkit

extension EndToEnd {
    /// Pages that are followed step by step, and the queries that pages show, beside `storekeeper dev`.
    struct PageStepTests {
        /// The blocks marked `sql`, with the role of each.
        private static let queries = [
            "Documentation/Insight.md": ["storekeeper_analyst", "storekeeper_analyst", "storekeeper_reader"],
            "Shared/Storage/Storage.docc/Storage.md": ["storekeeper_reader", "storekeeper_reader"],
        ]

        @Test func `Blocks of commands and queries stand on pages whose blocks a test runs`() throws {
            // The last two run in RequirementsTests and, with rates like those of the bank, in InsightTests.
            let run =
                FirstHourTests.firstPages + FirstHourTests.furtherPages
                + ["Documentation/Requirements.md", "Documentation/Insight.md"]
            for page in Set(PageCommandTests.pages + run) {
                for block in try DocumentedStep.text(of: page).matches(of: /(?m)^ *```(\w+)/) {
                    switch block.output.1 {
                    case "sh": #expect(run.contains(page), "\(page)")
                    case "sql": #expect(Self.queries[page] != nil, "\(page)")
                    case "text", "json", "python", "swift": break
                    default: Issue.record("\(page): a block of \(block.output.1)")
                    }
                }
            }
        }

        @Test func `Queries of pages run with the roles that they name`() async throws {
            var runs: [(query: String, role: String)] = []
            for (page, roles) in Self.queries {
                let queries = try DocumentedStep.text(of: page).matches(of: /```sql\n([\s\S]*?)\n```/)
                    // An account or a purchase: a uuid is a text, too.
                    .map { $0.output.1.replacing("$1", with: "'7e3fb204-0000-4000-8000-000000000000'") }
                try #require(queries.count == roles.count, "\(page)")
                runs += zip(queries, roles).map { (String($0), $1) }
            }
            try await RunningDev.use { [runs] dev in
                _ = try await dev.lines(2, with: "curl .*/entitlements")
                for (query, role) in runs {
                    let run = try await dev.shell(
                        "PGOPTIONS='-c role=\(role)' psql -X -v ON_ERROR_STOP=1 \"$DATABASE_URL\" <<'END'\n\(query)\nEND"
                    )
                    #expect(run.ending == .exit(0), "\(query)\n\(run.log)")
                    #expect(run.text.contains(" row"), "\(query)\n\(run.text)")
                }
            }
        }

        /// The simulator is Apple: its key stands for the one that App Store Connect gives, and its apps for those of the developer.
        @Test func `Connecting Apple by the page: doctor says what each step leaves missing, and nothing at the end`()
            async throws
        {
            let page = try DocumentedStep.text(of: "Documentation/ConnectApple.md")
            let files = page.matches(of: /```json\n([\s\S]*?)\n```/).map { String($0.output.1) }
            try #require(files.count == 2)
            let keys = files[1].replacing(#""keyId": "ABC123DEFG""#, with: #""keyId": "\#(APIKeyFile.keyId)""#)
            #expect(keys.contains(APIKeyFile.issuerId))
            try await RunningDev.use { dev in
                _ = try await dev.lines(2, with: "curl .*/entitlements")
                let apps = try await dev.shell(
                    "cat >\"$STOREKEEPER_APPS_FILE\" <<'END'\n\(files[0])\nEND\n"
                        + "unset STOREKEEPER_APP_STORE_API_KEYS_FILE\nstorekeeper doctor --no-test-notifications")
                #expect(apps.ending == .exit(1))
                #expect(apps.text.contains("STOREKEEPER_APP_STORE_API_KEYS_FILE is not set"), "\(apps.text)")
                // A browser saves a file that every user may read.
                let downloaded = try await dev.shell(
                    "cat >\"$STOREKEEPER_APP_STORE_API_KEYS_FILE\" <<'END'\n\(keys)\nEND\n"
                        + #"""
                        cd "$(dirname "$STOREKEEPER_APPS_FILE")"
                        cp AuthKey_\#(APIKeyFile.keyId).p8 AuthKey_ABC123DEFG.p8
                        chmod 644 AuthKey_ABC123DEFG.p8
                        storekeeper doctor --no-test-notifications
                        """#)
                #expect(downloaded.text.contains("chmod 600"), "\(downloaded.text)\(downloaded.log)")
                let whole = try await dev.shell(
                    #"""
                    cd "$(dirname "$STOREKEEPER_APPS_FILE")"
                    chmod 600 AuthKey_ABC123DEFG.p8
                    storekeeper doctor --url "http://127.0.0.1:$(cat ingest.port)/v1/notifications"
                    """#)
                #expect(whole.ending == .exit(0), "\(whole.text)\n\(whole.log)")
                #expect(!whole.text.contains("chmod"), "\(whole.text)")
                // Both environments of the one app, one of the other.
                #expect(whole.text.matches(of: /ok +test notification of/).count == 3, "\(whole.text)")
            }
        }
    }
}
