import ArgumentParser
import Commands
import Contracts
import Foundation
import Operations
import Storage

/// `storekeeper compare report`: whether an app can change over.
struct CompareReport: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "report", abstract: "Report whether the last days were the same.",
        discussion: """
            Of each of the last days before today, in UTC: the newest comparison, its differences, and whether the day is \
            complete by coverage. Where that is so of all, the steps of the cut-over are printed.

            Exit codes: 0 on each day every customer with access on either side was compared, nothing is unexplained, and the \
            day is complete; 1 not so: the report says what is missing.

            Example: storekeeper compare report --app com.example.app --days 14
            """)

    @OptionGroup var options: AppOptions

    @Option(help: "Number of days, 1 to 90.")
    var days = 14

    @Option(help: "Kind of file: \(ComparisonSource.names) (default: the only one).")
    var source: ComparisonSource?

    func validate() throws { try asUsage { try ComparisonReport.days.check(days) } }

    func run(in context: CommandContext) async throws {
        let connection = try options.database.connection(for: "compare", in: context)
        try await KnownAppsWarning(connection: connection).warn(about: options.app, in: context)
        let report = try await ComparisonReport(
            ofLast: days, options.app, in: options.environment, source: source, at: context.now(), on: connection)
        if options.output.json {
            try options.output.print(json: Printed(report), in: context)
        } else {
            try options.output.list(report.days.map(Row.init), none: "", in: context)
            let missing = report.days.filter { !$0.problems.isEmpty }
            for day in missing { context.print("\(day.day.day): \(day.problems.joined(separator: "; ")).") }
            context.print(
                report.isPassed
                    ? "Every customer with access was compared on each of \(days.counted("day")), and nothing is unexplained."
                    : "\(missing.count) of \(days.counted("day")) do not count.")
            if report.isPassed {
                CutOver(app: options.app, environment: options.environment, source: report.source).lines.forEach {
                    context.print($0.escaped)
                }
            }
        }
        guard report.isPassed else { throw Exit.failed.code }
    }

    private struct Printed: Encodable {
        var passed: Bool
        var source: String?
        var days: [Row]

        init(_ report: ComparisonReport) {
            passed = report.isPassed
            source = report.source
            days = report.days.map(Row.init)
        }
    }

    /// A day.
    private struct Row: ListedRow {
        static let columns: [TextTable.Column] = [
            "day", "taken at", .number("customers"), .number("equal"), .number("explained"), .number("unexplained"),
            "coverage",
        ]

        var day: String
        var comparison: String?
        var takenAt: Date?
        /// The customers of the file, and those with access here whom it does not name.
        var customers: Int?
        var equal: Int?
        var explained: Int?
        var unexplained: Int?
        /// Lines that could not be used.
        var invalid: Int?
        var coverage: String?
        /// Why the day does not count.
        var problems: [String]

        init(_ day: ComparisonReport.Day) {
            self.day = day.day.day
            comparison = day.comparison?.id.uuidString.lowercased()
            takenAt = day.comparison?.takenAt
            if let counts = day.comparison?.counts {
                customers = counts.customers + counts.notInFile
                equal = counts.equal
                explained = counts.causes.values.reduce(0, +) - counts.unexplained
                unexplained = counts.unexplained
                invalid = counts.invalid
            }
            coverage = day.coverage?.rawValue
            problems = day.problems
        }

        var cells: [String] {
            [day, takenAt?.text ?? "–"] + [customers, equal, explained, unexplained].map { $0.map { "\($0)" } ?? "–" }
                + [coverage ?? "–"]
        }
    }
}
