import ArgumentParser
import Commands
import Foundation
import Operations

/// `storekeeper status`: the screen for an incident.
struct Status: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show pipeline health.",
        discussion: """
            Answers in this order: is Apple being answered (receivers, the instances of ingest), is the state up to date \
            (the lag of each stage, a service with its consumer group; the newest notification; what is published), is anything missing \
            (Apple's history, dead letters), and what to do. Each section is shown once it and those before it are known; \
            one that cannot be read within --timeout shows the reason.

            Exit codes: 0 healthy, also with hints; 2 needs attention: \(Attention.summary); 78 invalid configuration. \
            With --watch: 0 when stopped.

            Examples:
              storekeeper status --watch
              storekeeper status --json
            """)

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var kafka: KafkaOptions
    @OptionGroup var output: OutputOptions

    @Flag(help: "Refresh until stopped.")
    var watch = false

    @Option(help: "Refresh interval in seconds, with --watch.")
    var every = Seconds(2)

    @Option(help: "Number of recent notifications for the latency figures.")
    var last = 1000

    @Option(help: "Time limit for each section in seconds.")
    var timeout = Seconds(2)

    func validate() throws {
        if last < 1 { throw ValidationError("--last must be at least 1") }
    }

    func run(in context: CommandContext) async throws {
        let reader = StatusReader(
            database: try database.configuration(for: "status", in: context),
            kafka: try kafka.configuration(in: context), sample: last, limit: timeout.duration)
        guard watch else {
            let report = try await once(reader, in: context)
            if !report.attention.isEmpty { throw Exit.attention.code }
            return
        }
        do {
            try await SignalHandler.cancellingOnSignal { [self] in
                var screen = TerminalScreen()
                while true {
                    let report = await reader.report(at: context.now())
                    if screen.isTerminal, !output.json {
                        let lines = StatusText(report: report).lines
                        screen.draw(StatusText.coloured(lines, in: context.style, cutTo: screen.width))
                    } else {
                        try show(report, in: context)
                    }
                    try await Task.sleep(for: every.duration)
                }
            }
        } catch is Interrupted {}
    }

    /// Shows each section once it and those before it are known: one that is not readable may take all its time.
    private func once(_ reader: StatusReader, in context: CommandContext) async throws -> PipelineStatus {
        guard !output.json else {
            let report = await reader.report(at: context.now())
            try output.print(json: report, in: context)
            return report
        }
        func show(_ lines: [String]) { StatusText.coloured(lines, in: context.style).forEach(context.print) }
        let now = context.now()
        show([StatusText.title(at: now)])
        let report = await reader.report(at: now) { name, report in show(StatusText(report: report).lines(of: name)) }
        let text = StatusText(report: report)
        show(text.advice + ["", text.verdict])
        return report
    }

    private func show(_ report: PipelineStatus, in context: CommandContext) throws {
        if output.json { return try output.print(json: report, in: context) }
        StatusText.coloured(StatusText(report: report).lines, in: context.style).forEach(context.print)
    }
}
