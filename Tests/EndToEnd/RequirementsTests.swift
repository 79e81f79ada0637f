import Foundation
import TestSupport
import Testing

@testable import Devkit

extension EndToEnd {
    /// The page of requirements: each has a row, and the answer to its command contains what the row says.
    struct RequirementsTests {
        private static let page = "Documentation/Requirements.md"

        /// How many requirements each letter has.
        private static let counts: KeyValuePairs<String, Int> = [
            "A": 10, "B": 11, "C": 7, "D": 19, "E": 10, "F": 17, "G": 14, "H": 10, "I": 16, "J": 5, "N": 15, "P": 6,
            "Q": 7,
        ]

        /// Rows whose commands run after the last block of the page, which moves the clock.
        private static let later = ["G14", "P3"]

        private struct Row {
            var id: String
            var text: String
            var command: String
            /// What the answer contains, in this order.
            var shown: [String]
        }

        private static func rows() throws -> [Row] {
            let line = /(?m)^\| ([A-Z]\d+) \| (.*?) \| `(.*)` \| `(.*)` \|$/
            return try DocumentedStep.text(of: page).matches(of: line).map { row in
                Row(
                    id: String(row.output.1), text: String(row.output.2),
                    command: String(row.output.3).replacing("\\|", with: "|"),
                    shown: row.output.4.split(separator: "…").map(String.init))
            }
        }

        /// What the page says in words: ingest stands still, so that Apple's attempts fail. It goes on when recovery has
        /// found the first purchase; the second one then waits for Apple's next attempt.
        private static func outage(of dev: RunningDev) -> DocumentedStep {
            DocumentedStep(
                commands: #"""
                    for process in $(cat /proc/\#(dev.process.identifier)/task/*/children); do
                        if [ "$(cat "/proc/$process/comm")" = ingest ]; then INGEST_PROCESS=$process; fi
                    done
                    kill -STOP "$INGEST_PROCESS"
                    trap 'kill -CONT "$INGEST_PROCESS"' EXIT
                    buy() {
                        { storekeeper simulator buy premium.monthly "$@" --json || [ $? -eq 1 ]; } | tr -d '\n' |
                            sed -E 's/.*"originalTransactionId" *: *"([0-9]+)".*/\1/'
                    }
                    LOST=$(buy)
                    for attempt in {1..100}; do
                        if storekeeper events list --purchase "$LOST" | grep "$LOST" >/dev/null; then break; fi
                    done
                    LATE=$(buy --environment Production)
                    """#)
        }

        /// Commands that change something at Apple; two of them Apple refuses.
        private static let changes = #"""
            set -eo pipefail
            cd "$(mktemp -d)"
            app="--app com.example.app --environment Sandbox"
            printf '\211PNG\r\n\032\n\0\0\0\015IHDR\0\0\017\0\0\0\0\240\010\002\0\0\0\0\0\0\0' >image.png
            image=$(storekeeper retention-messages upload-image image.png $app)
            echo "{\"header\":\"Stay\",\"body\":\"Please\",\"image\":{\"imageIdentifier\":\"$image\",\"altText\":\"a\"}}" >message.json
            message=$(storekeeper retention-messages upload message.json $app)
            storekeeper retention-messages list $app | grep "$message"
            storekeeper retention-messages default premium.monthly en-US --set "$message" $app
            storekeeper retention-messages default premium.monthly en-US $app | grep "$message"
            if storekeeper retention-messages delete-image "$image" $app; then exit 9; fi
            storekeeper retention-messages delete "$message" $app
            printf '\211PNG\r\n\032\n\0\0\0\015IHDR\0\0\004\0\0\0\004\0\010\002\0\0\0\0\0\0\0' >tick.png
            tick=$(storekeeper retention-messages upload-image tick.png --size BULLET_POINT $app)
            storekeeper retention-messages list $app | grep "$tick.*BULLET_POINT"
            if storekeeper retention-messages upload-image image.png --size BULLET_POINT $app; then exit 9; fi
            storekeeper retention-messages realtime-url --set https://example.com/retention $app
            storekeeper retention-messages realtime-url $app | grep https://example.com/retention
            request=$(storekeeper retention-messages performance-test --purchase "$PURCHASE" $app | sed -n -E 's/.*"requestId" *: *"([^"]+)".*/\1/p')
            { storekeeper retention-messages performance-test --result "$request" $app || [ $? -eq 1 ]; } | grep successRate
            storekeeper retention-messages realtime-url --remove $app
            if storekeeper retention-messages realtime-url $app; then exit 9; fi
            token=SANDBOX_$(cat /proc/sys/kernel/random/uuid)
            report=$(cat /proc/sys/kernel/random/uuid)
            storekeeper external-purchases report "$token" --status NO_LINE_ITEM --request-id "$report" --app com.example.app
            storekeeper external-purchases show "$report" $app | grep "$token"
            if storekeeper external-purchases report "$token" --status NO_LINE_ITEM --request-id "$report" --app com.example.app
            then exit 9; fi
            echo "{\"requestInfo\":{\"requestReferenceId\":\"$report\"}}" >cancel.json
            storekeeper advanced-commerce call cancel "$PURCHASE" cancel.json $app
            """#

        private static let audited = [
            "retention-messages upload-image", "retention-messages upload", "retention-messages default",
            "retention-messages delete-image", "retention-messages delete", "retention-messages realtime-url",
            "retention-messages performance-test", "retention-messages realtime-url --remove",
            "external-purchases report",
            "advanced-commerce cancel",
        ]

        @Test func `Page has a line for each requirement, and the screens that it names exist`() throws {
            let rows = try Self.rows()
            #expect(rows.allSatisfy { !$0.shown.isEmpty })
            let wanted = Self.counts.flatMap { letter, count in (1...count).map { "\(letter)\($0)" } }
            #expect(rows.map(\.id) == wanted)
            let screens = try DocumentedStep.text(of: "Services/Console/Routes.swift")
            for row in rows {
                for screen in row.text.matches(of: /`\/([a-z-]+)/) {
                    #expect(screens.contains("\"/\(screen.output.1)"), "\(row.id): \(screen.output.0)")
                }
            }
        }

        @Test func `Every command of the page shows against dev what the page says, and changes at Apple are audited`()
            async throws
        {
            let steps = try DocumentedStep.all(of: Self.page)
            try #require(steps.count == 2)
            let rows = try Self.rows()
            let functions = steps[0].commands.matches(of: /(?m)^[a-z]+\(\) \{.*\}$/).map { $0.output }
                .joined(separator: "\n")
            try await RunningDev.use { dev in
                _ = try await dev.lines(2, with: "curl .*/entitlements")
                try await dev.follow(steps[0])
                try await dev.follow(Self.outage(of: dev))
                let variables = ". '\(dev.place.path("variables"))'\n"
                let preparation = "set -o pipefail\n" + variables + functions + "\n"
                try await Self.check(rows.filter { !Self.later.contains($0.id) }, after: preparation, dev)
                let changes = try await dev.shell(variables + Self.changes)
                #expect(changes.ending == .exit(0), "\(changes.text)\n\(changes.log)")
                let audited = try await dev.shell("storekeeper audit --limit 100 --json").text
                for operation in Self.audited { #expect(audited.contains("\"\(operation)\""), "\(audited)") }
                for outcome in ["requested", "done", "failed"] {
                    #expect(audited.contains("\"\(outcome)\""), "\(audited)")
                }
                try await dev.follow(steps[1])
                try await Self.check(rows.filter { Self.later.contains($0.id) }, after: preparation, dev)
            }
        }

        /// Runs each command once for all rows that name it; asks again where its answer is not there yet.
        private static func check(_ rows: [Row], after preparation: String, _ dev: RunningDev) async throws {
            // Of all commands together: many wrong rows must not take hours.
            let deadline = ContinuousClock.now + .hangLimit
            for (command, rows) in Dictionary(grouping: rows, by: \.command).sorted(by: { $0.key < $1.key }) {
                // Status exits with 2 where something needs attention.
                let script = preparation + (command == "storekeeper status" ? "\(command) || [ $? -eq 2 ]" : command)
                var run = try await dev.shell(script)
                func isShown(_ row: Row) -> Bool {
                    DocumentedStep(commands: command, shown: row.shown).isShown(by: run.text)
                }
                // What was bought for the page is stored a moment later.
                while run.ending != .exit(0) || !rows.allSatisfy(isShown), ContinuousClock.now < deadline {
                    run = try await dev.shell(script)
                }
                #expect(run.ending == .exit(0), "\(command)\n\(run.text)\n\(run.log)")
                for row in rows {
                    #expect(isShown(row), "\(row.id): \(command)\nshows\n\(run.text)\nand not\n\(row.shown)")
                }
            }
        }
    }
}
