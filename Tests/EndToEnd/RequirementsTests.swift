import Foundation
import TestSupport
import Testing

@testable import Devkit

extension EndToEnd {
    /// The page of requirements: each has a row, and its command runs.
    struct RequirementsTests {
        private static let page = "Documentation/Requirements.md"

        /// How many requirements each letter has.
        private static let counts: KeyValuePairs<String, Int> = [
            "A": 10, "B": 11, "C": 7, "D": 19, "E": 10, "F": 17, "G": 14, "H": 10, "I": 16, "J": 5, "N": 15, "P": 6,
        ]

        private static func rows() throws -> [(id: String, text: String, command: String)] {
            try DocumentedStep.text(of: page).matches(of: /(?m)^\| ([A-Z]\d+) \| (.*?) \| `(.*)` \|$/).map { row in
                (
                    String(row.output.1), String(row.output.2),
                    String(row.output.3).replacing("\\|", with: "|")
                )
            }
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
            let wanted = Self.counts.flatMap { letter, count in (1...count).map { "\(letter)\($0)" } }
            #expect(rows.map(\.id) == wanted)
            let screens = try DocumentedStep.text(of: "Services/Console/Routes.swift")
            for row in rows {
                for screen in row.text.matches(of: /`\/([a-z-]+)/) {
                    #expect(screens.contains("\"/\(screen.output.1)"), "\(row.id): \(screen.output.0)")
                }
            }
        }

        @Test func `Every command of the page runs against dev, and changes at Apple are audited`() async throws {
            let steps = try DocumentedStep.all(of: Self.page)
            let commands = try Self.rows().map(\.command)
            try await RunningDev.use { dev in
                _ = try await dev.lines(2, with: "curl .*/entitlements")
                for step in steps { try await dev.follow(step) }
                let variables = ". '\(dev.place.path("variables"))'\n"
                for command in Set(commands).sorted() {
                    // Status exits with 2 where something needs attention.
                    let script = command == "storekeeper status" ? "\(command) || [ $? -eq 2 ]" : command
                    let deadline = ContinuousClock.now + .seconds(30)
                    var run = try await dev.shell("set -o pipefail\n" + variables + script)
                    // What was bought for the page is stored a moment later.
                    while run.ending != .exit(0), ContinuousClock.now < deadline {
                        run = try await dev.shell("set -o pipefail\n" + variables + script)
                    }
                    #expect(run.ending == .exit(0), "\(command)\n\(run.text)\n\(run.log)")
                    #expect(!run.text.isEmpty, "\(command)")
                }
                let changes = try await dev.shell(variables + Self.changes)
                #expect(changes.ending == .exit(0), "\(changes.text)\n\(changes.log)")
                let audited = try await dev.shell("storekeeper audit --limit 100 --json").text
                for operation in Self.audited { #expect(audited.contains("\"\(operation)\""), "\(audited)") }
                for outcome in ["requested", "done", "failed"] {
                    #expect(audited.contains("\"\(outcome)\""), "\(audited)")
                }
            }
        }
    }
}
