import Foundation
import Testing

@testable import Devkit

extension EndToEnd {
    /// Pages have commands in their sentences, where values are left to the reader. Each of them runs beside
    /// `storekeeper dev`: as it is written, or with values, or it is left out for a reason; a command of ours that
    /// is left out shows its options in its help instead. The shell blocks of pages run in `FirstHourTests`, the
    /// commands of the requirements in `RequirementsTests`, and the steps of Connect Apple and queries in
    /// `PageStepTests`. `Deploy/checks/references` looks up what commands of scripts and containers name.
    struct PageCommandTests {
        /// The pages whose commands run beside one dev; as many commands in each list, because the lists run at the
        /// same time. A command that several pages have runs for the first of them.
        private static let lists = [
            [
                "README.md", "CONTRIBUTING.md", "Documentation/ConnectApple.md", "Documentation/Insight.md",
                "Documentation/Supported.md", "Documentation/Move.md", "Documentation/Releases.md",
                "Documentation/SECURITY.md", "Documentation/Guarantees.md", "Documentation/README.md",
                "Documentation/Examples/Worker/README.md",
            ],
            [
                "Documentation/Faults.md", "Documentation/Architecture.md", "Deploy/README.md",
                "Deploy/Maintenance.md", "Documentation/FirstHour.md", "Documentation/Concepts.md",
                "Documentation/API.md", "Documentation/Ownership.md", "Documentation/Clients.md",
                "Documentation/Consumables.md", "Documentation/Webhooks.md", "Documentation/Refunds.md",
                "Documentation/Offers.md", "Documentation/Console.md",
                "Shared/Apple/AppStore/AppStore.docc/Verification.md",
                "Shared/Apple/ServerAPI/ServerAPI.docc/ServerAPI.md",
                "Shared/Domain/Subscriptions/Subscriptions.docc/Subscriptions.md",
                "Shared/Storage/Storage.docc/Coverage.md", "Shared/Storage/Storage.docc/Rebuild.md",
                "Shared/Storage/Storage.docc/Recovery.md", "Shared/Storage/Storage.docc/Scale.md",
                "Shared/Storage/Storage.docc/SharedAccounts.md", "Shared/Storage/Storage.docc/Storage.md",
                "Shared/Storage/Storage.docc/Timeline.md",
            ],
            [
                "Deploy/Alerts.md", "Documentation/CommandLine.md",
                // The last one, because it moves the clock.
                "Documentation/Simulator.md",
            ],
        ]

        static var pages: [String] { lists.flatMap(\.self) }

        /// What the completed commands are about: a purchase, a dead letter, an endpoint, another system's export.
        private static let preparation = #"""
            ACCOUNT=$(cat /proc/sys/kernel/random/uuid)
            PURCHASE=$(storekeeper simulator buy premium.monthly --account "$ACCOUNT" --environment Production --json |
                sed -E 's/.*"originalTransactionId":"([0-9]+)".*/\1/')
            ENDPOINT=$(storekeeper webhooks create --environment Production --url https://backend.example.com/storekeeper --json |
                grep -oE '[0-9a-f-]{36}')
            KEPT=$(dirname "$STOREKEEPER_APPS_FILE")
            INGEST="http://127.0.0.1:$(cat "$KEPT/ingest.port")"
            storekeeper simulator export export.csv.gz --environment Production
            EVENT=
            for attempt in {1..300}; do
                [ -z "$EVENT" ] || break
                EVENT=$(storekeeper events list --purchase "$PURCHASE" --limit 1 --json |
                    sed -n 's/.*"notificationUUID" : "\([^"]*\)".*/\1/p')
            done
            SIGNED=$(storekeeper events show "$EVENT" --original)
            curl -s -f -H "Content-Type: application/json" -d "{\"signedPayload\":\"${SIGNED%????????}AAAAAAAA\"}" \
                "$INGEST/v1/notifications"
            DEAD=
            for attempt in {1..300}; do
                [ -z "$DEAD" ] || break
                DEAD=$(storekeeper dead-letters list --reason signature --limit 1 | sed -nE 's#^([0-9]+/[0-9]+) .*#\1#p')
            done
            [ -n "$DEAD" ]
            # The build that rejected it.
            storekeeper dead-letters show "$DEAD" | grep -F "build $(storekeeper --version | cut -d ' ' -f 2)"
            """#

        /// How a statement runs, with the rights of operators.
        private static let tools = #"sql() { psql -X -q -v ON_ERROR_STOP=1 "$DATABASE_URL" -c "$1"; }"# + "\n"

        @Test(arguments: lists.indices)
        func `Every command in a sentence of a page runs against dev, or is left out for a reason`(
            list: Int
        ) async throws {
            let earlier = Set(try Self.commands(of: Self.lists[..<list].flatMap(\.self)))
            let commands = try Self.commands(of: Self.lists[list]).filter { !earlier.contains($0) }
            #expect(commands.count > 20)
            try await RunningDev.use { dev in
                _ = try await dev.lines(2, with: "curl .*/entitlements")
                try await dev.follow(DocumentedStep(commands: Self.preparation))
                for command in commands {
                    guard let script = Self.script(of: command) ?? Self.help(of: command) else { continue }
                    try await dev.follow(DocumentedStep(commands: Self.tools + script))
                }
            }
        }

        @Test func `What completes a command of a page has its words, and each entry stands on a page`() throws {
            let commands = try Self.commands(of: Self.pages)
            #expect(commands.count > 80)
            for (command, script) in Self.completed {
                #expect(commands.contains(command), "no page has \(command)")
                #expect(Self.has(script, wordsOf: command), "\(command): \(script)")
            }
            for (beginning, reason) in Self.leftOut {
                #expect(commands.contains { $0.hasPrefix(beginning) }, "\(beginning): \(reason)")
            }
            // Lists of pages and of changes, and the page of RequirementsTests.
            let others = ["README.md", "CHANGELOG.md", "Requirements.md"]
            let folder = DocumentedStep.root.appendingPathComponent("Documentation").path
            for name in try FileManager.default.contentsOfDirectory(atPath: folder) where name.hasSuffix(".md") {
                #expect(others.contains(name) || Self.pages.contains("Documentation/\(name)"), "\(name)")
            }
        }

        // MARK: - Reading pages

        /// The commands of pages, each once: those with an argument in code spans, and the indented lines that are commands.
        private static func commands(of pages: [String]) throws -> [String] {
            var commands: [String] = []
            for page in pages {
                // Without blocks, and without DocC's links, whose two backticks are not those of a code span.
                let text = try DocumentedStep.text(of: page).replacing(/```[\s\S]*?```|``[^`]*``/, with: "")
                    .replacing("\\\n", with: " ")
                let spans = text.matches(of: /`([^`]+)`/).map { $0.output.1 }
                let lines = text.matches(of: /(?m)^ {4,}(\S.*)$/).map { $0.output.1 }
                for found in spans + lines {
                    // A command in a container of ours is one that runs here.
                    let command = found.split(whereSeparator: \.isWhitespace).joined(separator: " ").replacing(
                        /^(?:docker compose run|kubectl -n storekeeper exec) .*?(?:storekeeper|--) (?=storekeeper [a-z])/,
                        with: "")
                    let isCommand = command.prefixMatch(of: programs) != nil
                    if isCommand, !commands.contains(command) { commands.append(command) }
                }
            }
            return commands
        }

        /// The programs and statements of which a command has an argument.
        private static var programs: Regex<Substring> {
            /(?:sudo|storekeeper|setup|docker|kubectl|helm|psql|pg_[a-z]+|kafka-[a-z-]+\.sh|STOREKEEPER_[A-Z_]+=\S+|cosign|openssl|sha256sum|chronyc|chmod|cat|git|swift|select|create user|export|simulator|devkit|npx|openapi-[a-z-]+|Deploy\/[a-z\/-]+) \S/
        }

        /// What runs for a command; nil where it is left out.
        private static func script(of command: String) -> String? {
            if let script = completed[command] { return script }
            if command.hasPrefix("select ") { return "sql \"\(command.replacing("PID", with: "0"))\"" }
            return leftOut.contains { command.hasPrefix($0.key) } ? nil : command
        }

        /// Looks up the options of a command of ours in its help; nil where it has none.
        private static func help(of command: String) -> String? {
            let words = command.replacing(/^Deploy\/run(?= --(?!prebuilt))/, with: "devkit dev").split(separator: " ")
            let name = words.prefix { $0.wholeMatch(of: /[a-z-]+/) != nil && !$0.hasPrefix("-") }
            let options = words.filter { $0.wholeMatch(of: /--[a-z-]+/) != nil }
            guard let program = name.first, ["storekeeper", "simulator", "devkit"].contains(program), !options.isEmpty
            else { return nil }
            return """
                help=$(\(name.joined(separator: " ")) --help)
                for option in \(options.joined(separator: " ")); do
                    grep -E -e "$option([^a-z-]|$)" <<<"$help" >/dev/null || { echo "no $option" >&2; exit 1; }
                done
                """
        }

        /// Whether a script has the words of a command in their order, without those that stand for a value.
        private static func has(_ script: String, wordsOf command: String) -> Bool {
            var rest = script[...]
            for word in command.split(separator: " ") where word.firstMatch(of: /…|\/|[A-Z]{2}|^N$/) == nil {
                guard let found = rest.range(of: word) else { return false }
                rest = rest[found.upperBound...]
            }
            return true
        }
    }
}
