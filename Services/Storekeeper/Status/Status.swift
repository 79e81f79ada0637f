import ArgumentParser
import Foundation

/// `storekeeper status`: the one screen an operator looks at in an incident.
struct Status: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show how the line is, on one screen.",
        discussion: """
            How far each stage is behind, what arrived last and how fast, what was refused, which receivers live, and what \
            is proven complete. What cannot be read says why; the rest is shown all the same.

            Exit codes: 0 all well; 2 something wants attention: a part that cannot be read, missing notifications, a \
            failed window or canary, a receiver silent for 3 minutes, a stage more than a minute behind, proven \
            notifications that a later stage refused. With --watch: 0 when stopped.
            """)

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var kafka: KafkaOptions
    @OptionGroup var output: OutputOptions

    @Flag(help: "Show it again and again until stopped.")
    var watch = false

    @Option(help: "With --watch: seconds between two looks.")
    var every = Seconds(2)

    @Option(help: "Of how many notifications the time from webhook to state is taken.")
    var last = 1000

    func validate() throws {
        if last < 1 { throw ValidationError("--last must be at least 1") }
    }

    func run(in context: CommandContext) async throws {
        let reader = StatusReader(
            database: try database.configuration(for: "status", in: context),
            kafka: try kafka.configuration(in: context), sample: last)
        guard watch else {
            let report = await reader.report(at: context.now())
            try show(report, in: context)
            if !report.attention.isEmpty { throw Exit.attention.code }
            return
        }
        do {
            try await SignalHandler.cancellingOnSignal { [self] in
                var screen = TerminalScreen()
                while true {
                    let report = await reader.report(at: context.now())
                    if screen.isTerminal, !output.json {
                        screen.draw(StatusText(report: report).lines.map { String($0.prefix(screen.width)) })
                    } else {
                        try show(report, in: context)
                    }
                    try await Task.sleep(for: every.duration)
                }
            }
        } catch is Interrupted {}
    }

    private func show(_ report: StatusReport, in context: CommandContext) throws {
        if output.json { return try output.print(json: report, in: context) }
        StatusText(report: report).lines.forEach(context.print)
    }
}
