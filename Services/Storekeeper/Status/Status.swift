import ArgumentParser
import Foundation
import Operations

/// `storekeeper status`: the screen for an incident.
struct Status: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show pipeline health.",
        discussion: """
            Shows the lag of each stage (a service with its consumer group), the newest notification and latency, dead letters, receivers (the instances of \
            ingest) and the comparison with Apple's history. A section that cannot be read shows the reason.

            Exit codes: 0 healthy; 2 needs attention: an unreadable section, missing notifications, a window \
            (span) of Apple's history that failed, a lost test notification, a receiver without heartbeat for 3 minutes, \
            a stage more than a minute behind, verified notifications rejected by a later stage. With --watch: 0 when stopped.

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
