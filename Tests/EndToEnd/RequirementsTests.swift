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
            "A": 10, "B": 11, "C": 7, "D": 19, "E": 10, "F": 17, "G": 14, "H": 10, "I": 16, "J": 5, "N": 14, "P": 6,
        ]

        private static func rows() throws -> [(id: String, text: String, command: String)] {
            try DocumentedStep.text(of: page).matches(of: /(?m)^\| ([A-Z]\d+) \| (.*?) \| `(.*)` \|$/).map { row in
                (
                    String(row.output.1), String(row.output.2),
                    String(row.output.3).replacing("\\|", with: "|")
                )
            }
        }

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

        @Test func `Every command of the page runs against dev`() async throws {
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
            }
        }
    }
}
