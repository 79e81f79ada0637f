import ArgumentParser
import Contracts
import Foundation

/// `simulator coverage`: counts which kinds of notifications a run of this size contains.
struct CoverageCommand: SimulatorWork {
    static let configuration = CommandConfiguration(
        commandName: "coverage", abstract: "Count notifications by type, subtype, product type and environment.",
        discussion: """
            Creates the notifications that `simulator run` with the same options creates, and sends none. With --record it \
            counts what a run has sent. A dash stands where a kind or product type that Apple does not have yet did not occur: \
            none of it is due. Exit codes: 0 every documented kind occurred, 1 a kind is missing.

            Example: simulator coverage --count 20000
            """)

    @Option(help: "Run record to count instead of creating notifications.")
    var record: String?

    @Option(help: "Production or Sandbox; repeat for both (the default).")
    var environment = ["Production", "Sandbox"]

    @OptionGroup(title: "The run")
    var options: RunOptions

    func validate() throws {
        try SigningOptions.validate(environments: environment)
        if record == nil, options.count == 0, options.scenario == nil {
            throw ValidationError("give --count, --scenario or --record: an unlimited run cannot be counted")
        }
    }

    func run(in context: CommandContext) async throws {
        let environments = environment.compactMap { StoreEnvironment(rawValue: $0) }
        let coverage = try record.map(Self.read) ?? made(in: environments, now: context.now())
        for line in Self.table(of: coverage, in: environments) { print(line) }
        let missing = coverage.missing(in: environments)
        print("\(coverage.keys.count) kinds, \(missing.count) missing")
        if !missing.isEmpty { throw ExitCode.failure }
    }

    private static func read(_ path: String) throws -> Coverage {
        guard let bytes = FileManager.default.contents(atPath: path) else {
            throw SimulatorError("\(path) cannot be read: give a file that `simulator run --record` wrote")
        }
        return Coverage(of: try RunRecord(reading: Array(bytes)))
    }

    private func made(in environments: [StoreEnvironment], now: Date) throws -> Coverage {
        let now = options.now.map { Date(milliseconds: $0) } ?? now
        let apps = environments.map { App(bundleId: "com.example.app", appAppleId: 1_234_567_890, environment: $0) }
        let plan = try options.plan(for: apps)
        var population = Population(
            apps: apps, size: plan.subscriptions, conditions: plan.conditions, mix: plan.mix, seed: plan.seed, now: now)
        var coverage = Coverage()
        for _ in 0..<plan.count { coverage.add(population.next(now: now)) }
        return coverage
    }

    static func table(of coverage: Coverage, in environments: [StoreEnvironment]) -> [String] {
        func row(_ cells: [String]) -> String {
            let widths = [27, 23, 29]
            return zip(cells, widths).map { $0.padding(toLength: $1, withPad: " ", startingAt: 0) }.joined()
                + cells.dropFirst(widths.count).map { String(repeating: " ", count: max(1, 12 - $0.count)) + $0 }
                .joined()
        }
        let head = row(["type", "subtype", "product type"] + environments.map(\.rawValue))
        return [head]
            + coverage.keys.map { key in
                row(
                    [key.notificationType, key.subtype ?? "-", key.productType ?? "-"]
                        + environments.map { environment in
                            // Of what Apple does not have today none is due, so that none is no zero.
                            let none = Coverage.documented.contains(key) ? "0" : "-"
                            return coverage.counts[key]?[environment].map { String($0) } ?? none
                        })
            }
    }
}
