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

        /// Commands of pages with values for what the pages leave to the reader, or with the exit code that they have here.
        private static let completed: [String: String] = [
            "chmod 600 AuthKey_ABC123DEFG.p8": "touch AuthKey_ABC123DEFG.p8 && chmod 600 AuthKey_ABC123DEFG.p8",
            "chmod 640 keys/*.p8": "mkdir -p keys && touch keys/a.p8 && chmod 640 keys/*.p8",
            "cat exports/*.csv > all.csv":
                "mkdir exports && storekeeper simulator export exports/a.csv --shape adapty --environment Production && cat exports/*.csv > all.csv",
            "cat fullchain.pem privkey.pem >certificate.pem":
                "touch fullchain.pem privkey.pem && cat fullchain.pem privkey.pem >certificate.pem",
            "create user recovery in role storekeeper_recovery …":
                #"PGOPTIONS= sql "create user recovery in role storekeeper_recovery password 'test'""#,
            "setup --check":
                #"env -i PATH="$PATH" DATABASE_URL="$DATABASE_URL" KAFKA_BOOTSTRAP_SERVERS="$KAFKA_BOOTSTRAP_SERVERS" STOREKEEPER_REPLICATION_FACTOR=1 setup --check"#,
            "simulator buy": #"simulator buy premium.monthly --account "$ACCOUNT""#,
            "simulator buy PRODUCT --account TOKEN": #"simulator buy coins.100 --account "$ACCOUNT""#,
            "simulator export FILE": "simulator export adapty.csv --shape adapty --environment Production",
            "simulator purchases [ID]": #"simulator purchases "$PURCHASE""#,
            "simulator trigger TYPE [SUBTYPE] --account TOKEN": #"simulator trigger REFUND --account "$ACCOUNT""#,
            "storekeeper acls --servers … --principal-prefix User:CN=storekeeper- --command-config …":
                "storekeeper acls --servers localhost:9092 --principal-prefix User:CN=storekeeper- --command-config admin.properties",
            "storekeeper backfill": backfill,
            "storekeeper backfill FILE --app com.example.app --environment Production": backfill,
            // The simulator's customers buy on while the file is written, and nothing was compared on the days before.
            "storekeeper compare export.csv.gz --app com.example.app --environment Production":
                "storekeeper compare export.csv.gz --app com.example.app --environment Production || [ $? -eq 1 ]",
            "storekeeper compare":
                "storekeeper compare export.csv.gz --app com.example.app --environment Production || [ $? -eq 1 ]",
            // With all that it needs it runs for the page Move.
            "storekeeper compare ask": "storekeeper compare ask --help",
            // The simulator answers as the other system from the export that was made before.
            "storekeeper compare ask ids.txt --system revenuecat --key-file revenuecat.key --app com.example.app": #"""
            gunzip -c export.csv.gz | tail -n +2 | cut -d, -f2 | sort -u | awk 'NR <= 50' >ids.txt
            echo sk_1 >revenuecat.key
            storekeeper compare ask ids.txt --system revenuecat --key-file revenuecat.key --app com.example.app --rate 100 \
                --url "$SIMULATOR_URL/other-system/revenuecat"
            """#,
            "storekeeper compare ids.txt.answers.csv --app com.example.app":
                "storekeeper compare ids.txt.answers.csv --app com.example.app --environment Production || [ $? -eq 1 ]",
            "storekeeper compare report": "storekeeper compare report --app com.example.app || [ $? -eq 1 ]",
            "storekeeper compare report --app com.example.app --days 14":
                "storekeeper compare report --app com.example.app --days 14 || [ $? -eq 1 ]",
            "storekeeper console login --as NAME --role admin": "storekeeper console login --as ann --role admin",
            "storekeeper coverage --from": "storekeeper coverage --from 7d",
            "storekeeper customers choose":
                #"storekeeper customers choose --app com.example.app --environment Production "$ACCOUNT" --dry-run"#,
            "storekeeper customers balance":
                #"storekeeper customers balance --app com.example.app --environment Production "$ACCOUNT""#,
            "storekeeper customers erase":
                #"storekeeper customers erase --app com.example.app --environment Production "$ACCOUNT" --dry-run"#,
            "storekeeper customers policy": "storekeeper customers policy --app com.example.app",
            "storekeeper customers policy … --most-accounts":
                "storekeeper customers policy firstWins --app com.example.app --environment Sandbox --most-accounts 20 --dry-run",
            "storekeeper dead-letters dismiss": #"storekeeper dead-letters dismiss "$DEAD" --note test"#,
            "storekeeper dead-letters replay": #"storekeeper dead-letters replay "$DEAD" --note test"#,
            // It was altered, which is exit code 1.
            "storekeeper dead-letters show 3/17 --original | storekeeper verify -":
                #"(storekeeper dead-letters show "$DEAD" --original | storekeeper verify - 2>&1 || [ $? -eq 1 ]) | grep signature"#,
            "storekeeper doctor": "storekeeper doctor --no-test-notifications",
            "storekeeper doctor --url https://storekeeper.example.com/v1/notifications":
                #"storekeeper doctor --url "$INGEST/v1/notifications""#,
            "storekeeper entitlements": #"storekeeper entitlements "$ACCOUNT" --environment Production"#,
            "storekeeper events purchase": #"storekeeper events purchase "$PURCHASE""#,
            "storekeeper events show": #"storekeeper events show "$EVENT""#,
            "storekeeper events timeline": #"storekeeper events timeline "$PURCHASE""#,
            "storekeeper healthcheck http://HOST:9101/readyz": healthcheck,
            "storekeeper healthcheck http://HOST:PORT/readyz": healthcheck,
            "storekeeper help COMMAND": "storekeeper help status",
            "storekeeper import":
                "storekeeper import export.csv.gz --app com.example.app --environment Production --dry-run",
            // Exit code 1: another customer has the purchase of a row.
            "storekeeper import export.csv.gz --app com.example.app --environment Production --progress com.example.app.progress":
                "storekeeper import export.csv.gz --app com.example.app --environment Production --progress com.example.app.progress || [ $? -eq 1 ]",
            "storekeeper insight purchases REPORT": "storekeeper insight purchases revenue --app com.example.app",
            "storekeeper insight rates load":
                "echo 2026-01-02,EUR,1.17 >rates.csv && storekeeper insight rates load rates.csv --into USD --source test",
            "storekeeper insight rebuild": "storekeeper insight rebuild --note test",
            "storekeeper insight show REPORT": """
            for report in mrr movements churn retention trials revenue proceeds; do
                storekeeper insight show $report --app com.example.app
            done
            """,
            "storekeeper insight small-business set":
                "storekeeper insight small-business set --app com.example.app --since 2026-01-01",
            "storekeeper insight taxes load":
                "echo DEU,2026-01-01,19 >taxes.csv && storekeeper insight taxes load taxes.csv --source test",
            "storekeeper keys create":
                "storekeeper keys create --name next --environment Sandbox --app com.example.app --scope entitlements:read",
            "storekeeper keys revoke": #"""
            LAST=$(storekeeper keys create --name last --environment Sandbox --app com.example.app --scope entitlements:read --json |
                grep -oE '[0-9a-f-]{36}')
            storekeeper keys revoke "$LAST" --note test
            """#,
            "storekeeper offsets reset": "storekeeper offsets reset --dry-run",
            "storekeeper products levels": "storekeeper products levels --app com.example.app",
            "storekeeper products durations": "storekeeper products durations --app com.example.app",
            // The right to create a schema, which operators do not have.
            "storekeeper rebuild": "PGOPTIONS= storekeeper rebuild",
            "storekeeper rebuild --repair": "PGOPTIONS= storekeeper rebuild --repair --dry-run",
            "storekeeper rebuild --repair --dry-run": "PGOPTIONS= storekeeper rebuild --repair --dry-run",
            "storekeeper recover": "storekeeper recover --from 1h",
            "storekeeper recover --from": "storekeeper recover --from 1h",
            "storekeeper recover --from … --to …": "storekeeper recover --from 1h --to 1m",
            "storekeeper refunds outcomes":
                "storekeeper refunds outcomes --app com.example.app --environment Sandbox",
            "storekeeper simulator": "storekeeper simulator products",
            "storekeeper simulator trigger":
                #"storekeeper simulator trigger DID_CHANGE_RENEWAL_STATUS AUTO_RENEW_DISABLED --account "$ACCOUNT""#,
            // Exit code 2: something needs attention.
            "storekeeper status": "storekeeper status || [ $? -eq 2 ]",
            "storekeeper test-notification":
                "storekeeper test-notification --app com.example.app --environment Sandbox",
            "storekeeper test-notification --app BUNDLE --environment ENVIRONMENT":
                "storekeeper test-notification --app com.example.app --environment Production",
            "storekeeper verify FILE":
                #"storekeeper simulator purchases "$PURCHASE" --signed >signed && storekeeper verify signed"#,
            "storekeeper webhooks deliveries ID --state given-up":
                #"storekeeper webhooks deliveries "$ENDPOINT" --state given-up"#,
            "storekeeper webhooks deliveries ID --state waiting":
                #"storekeeper webhooks deliveries "$ENDPOINT" --state waiting"#,
            "storekeeper webhooks replay": #"storekeeper webhooks replay "$ENDPOINT" --from 2h --dry-run"#,
            "storekeeper webhooks resume":
                #"storekeeper webhooks pause "$ENDPOINT" && storekeeper webhooks resume "$ENDPOINT" --yes"#,
            "storekeeper webhooks replay ID --from 40d":
                #"storekeeper webhooks replay "$ENDPOINT" --from 40d --dry-run"#,
            "storekeeper webhooks replay ID --sequence N":
                #"storekeeper webhooks replay "$ENDPOINT" --sequence 1 --dry-run"#,
            "storekeeper webhooks resume ID":
                #"storekeeper webhooks pause "$ENDPOINT" && storekeeper webhooks resume "$ENDPOINT" --yes"#,
            "storekeeper webhooks show ID": #"storekeeper webhooks show "$ENDPOINT""#,
        ]

        private static let backfill =
            #"echo "$PURCHASE" >customers && storekeeper backfill customers --app com.example.app --environment Production"#
        private static let healthcheck =
            #"storekeeper healthcheck "http://127.0.0.1:$(cat "$KEPT/ingest.admin-port")/readyz""#

        /// Commands that begin like this do not run here.
        private static let leftOut: KeyValuePairs<String, String> = [
            "docker ": "needs a container engine; Deploy/checks/compose runs docker-compose.yml",
            "kubectl ": "needs a cluster; Deploy/checks/kubernetes checks what the manifests say",
            "helm ": "needs a cluster; Deploy/checks/kubernetes compares the chart with the manifests",
            "kafka-": "Kafka's own tools, for a broker that is not embedded; Deploy/checks/restore resets offsets",
            "psql -h REPLICA": "needs a replica",
            "pg_": "stops, copies or dumps a whole server; Deploy/checks/restore restores one",
            "chronyc ": "shows the time service of a machine",
            "openssl speed": "measures a machine",
            "openssl verify": "what a test compares with",
            "openssl genpkey": "makes the key of a release; Deploy/checks/releases --self-test runs it",
            "openssl pkey": "uses the key of a release; Deploy/checks/releases --self-test runs it",
            "sha256sum ": "needs a release; Deploy/checks/releases --self-test runs it",
            "cosign ": "needs a release, or a registry, and a program that Debian does not have",
            "STOREKEEPER_CONSOLE_URL=": "starts a console; dev starts one",
            "git ": "publishes",
            "swift ": "changes the sources",
            "storekeeper dev": "all other commands run beside it",
            "devkit ": "starts all services, or compares what a run came to; Deploy/run --count does both",
            "npx ": "a generator of clients",
            "openapi-": "generators of clients; Deploy/checks/examples runs the one for Python",
            "simulator run ": "another simulator; ServedRunTests starts it",
            "simulator ocsp ": "serves until it is stopped; OCSPCommandTests starts it",
            "sudo ": "needs root",
            "storekeeper offsets begin":
                "needs a broker that finds records by their time, and no services; OffsetsBeginTests",
            "storekeeper refunds answer": "decides before the policy does, which is faster here; OperationFacesTests",
            "storekeeper webhooks listen": "runs until it is stopped; Deploy/checks/examples receives by it",
            "Deploy/": "builds, tests or releases; .ci/run runs what a change has to pass",
        ]

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
                    let command = found.split(whereSeparator: \.isWhitespace).joined(separator: " ")
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
            let words = command.replacing(/^Deploy\/run(?= --c)/, with: "devkit dev").split(separator: " ")
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
