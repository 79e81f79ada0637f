import ArgumentParser
import Foundation

/// `simulator scenarios`: lists the scenarios.
struct ScenariosCommand: SimulatorWork {
    static let configuration = CommandConfiguration(
        commandName: "scenarios", abstract: "List the scenarios that can be played.",
        discussion: """
            Play one with --scenario NAME, several by weight with --mix FILE.

            Example: simulator run --scenario win-back --target URL --authority authority
            """)

    func run(in context: CommandContext) async throws {
        let width = Scenario.all.map(\.name.count).max() ?? 0
        for scenario in Scenario.all {
            print("\(scenario.name.padding(toLength: width + 2, withPad: " ", startingAt: 0))\(scenario.summary)")
        }
    }
}
