import Foundation
import Metrics

/// A process of the project: it reads its configuration, starts logging, metrics and the admin server, runs its
/// services, and ends in order.
///
/// ```swift
/// await ServiceProcess(name: "ingest", summary: "…", adminAddress: "127.0.0.1:9101", variables: Configuration())
///     .run(clock: ProcessClock(now: { Date() }, instant: { .now }), instance: UUID().uuidString) { context in
///         [try Receiver(context)]
///     }
/// ```
public struct ServiceProcess<Table: VariableTable>: Sendable {
    private let name: String
    private let summary: String
    private let table: Table
    private let common: CommonVariables
    private let flags: [String: String]

    /// - Parameters:
    ///   - name: the command, as logs and metrics show it.
    ///   - summary: one sentence for `--help`.
    ///   - adminAddress: default of `STOREKEEPER_ADMIN_ADDRESS`; each service has a port of its own.
    ///   - variables: the service's own variables.
    ///   - flags: arguments of the service's own, such as `--check`, and what they do.
    public init(
        name: String, summary: String, adminAddress: String, variables: Table, flags: [String: String] = [:]
    ) {
        self.flags = flags
        self.name = name
        self.summary = summary
        table = variables
        common = CommonVariables(adminAddress: adminAddress)
    }

    /// Runs until SIGTERM or SIGINT, or until a service fails; then ends the process with an `ExitCode`.
    /// - Parameter services: creates the services, in the order of their dependencies: they stop in reverse. Its
    ///   error ends the process with exit 1, and with 78 if it is `ConfigurationProblems`.
    public func run(
        clock: ProcessClock, instance: String,
        services: @Sendable (ServiceContext<Table>) async throws -> [any Service]
    ) async -> Never {
        await start(clock: clock, instance: instance) { context, settings, registry in
            var services = try await services(context)
            // Stopped after all of them, so that their last spans are exported.
            if let exporter = try exporter(context, settings) { services.insert(exporter, at: 0) }
            try await ServiceRun(
                logger: context.logger, health: context.health, settings: settings, registry: registry
            ).run(services)
        }
    }

    /// Does one job and ends the process: configuration and logging as for `run`, without an admin server or signals.
    public func perform(
        clock: ProcessClock, instance: String, job: @Sendable (ServiceContext<Table>) async throws -> Void
    ) async -> Never {
        await start(clock: clock, instance: instance) { context, _, _ in try await job(context) }
    }

    private func start(
        clock: ProcessClock, instance: String,
        work: (ServiceContext<Table>, Settings<CommonVariables>, MetricRegistry) async throws -> Void
    ) async -> Never {
        let environment = ProcessInfo.processInfo.environment
        let request = CommandLineRequest(CommandLine.arguments.dropFirst(), flags: flags)
        let (settings, commonSettings) = configured(request, environment: EnvironmentReader(environment))
        let clock = moved(clock, by: commonSettings.developmentClockFile)

        let format = commonSettings.logFormat
        let level = commonSettings.logLevel
        LoggingSystem.bootstrap { [name] label in
            LineLogHandler(service: name, label: label, level: level, format: format, now: clock.now)
        }
        let logger = Logger(label: "storekeeper.\(name)")
        if let file = commonSettings.developmentClockFile {
            logger.warning(
                "The clock is that of a simulator, as \(file) says; unset STOREKEEPER_DEVELOPMENT_CLOCK_FILE in production"
            )
        }
        let declared = table.variables + common.variables
        for variable in Settings<Table>.deprecated(in: EnvironmentReader(environment), declared: declared) {
            logger.warning(
                "Deprecated variable is set; it goes with the next minor release",
                metadata: ["variable": "\(variable.name)", "meaning": "\(variable.meaning)"])
        }
        let registry = MetricRegistry(metrics: Metric.all)
        MetricsSystem.bootstrap(registry)
        Metric.buildInformation.gauge(name, BuildInformation.version).record(1)
        // The reader of standard output may close it; that must not stop the service.
        signal(SIGPIPE, SIG_IGN)

        let tracer = Tracer(
            isOn: commonSettings.traceEndpoint != nil, ratio: commonSettings.traceRatio,
            random: { .random(in: .min ... .max) })
        var context = ServiceContext(
            settings: settings, logger: logger, health: Health(instant: clock.instant), tracer: tracer, clock: clock,
            instance: instance, environment: environment)
        context.health.addLivenessCheck(ofClock: clock)
        if case .flag(let flag) = request { context.flag = flag }
        do {
            try await work(context, commonSettings, registry)
            end(.success)
        } catch let problems as ConfigurationProblems {
            end(.configuration, saying: "\(problems)")
        } catch {
            logger.critical("\(name) ends because \(error)")
            end(.failed)
        }
    }

    /// The clock, ahead by what a simulator's file says; unchanged without one.
    private func moved(_ clock: ProcessClock, by file: String?) -> ProcessClock {
        guard let file else { return clock }
        do throws(ConfigurationProblem) {
            return clock.moved(by: try DevelopmentClock(file: file))
        } catch { end(.configuration, saying: "\(error)") }
    }

    /// Exports traces; nil without an endpoint.
    private func exporter(
        _ context: ServiceContext<Table>, _ settings: Settings<CommonVariables>
    ) throws(ConfigurationProblem) -> TraceExporter? {
        guard let endpoint = settings.traceEndpoint else { return nil }
        return TraceExporter(
            tracer: context.tracer, endpoint: endpoint, headers: try settings.traceHeaders(),
            resource: [
                ("service.name", .text(name)), ("service.namespace", .text("storekeeper")),
                ("service.version", .text(BuildInformation.version)), ("service.instance.id", .text(context.instance)),
            ],
            logger: context.logger)
    }

    /// Answers `--help` and similar, or returns the settings; ends the process if there are none to return.
    private func configured(
        _ request: CommandLineRequest, environment: EnvironmentReader
    ) -> (Settings<Table>, Settings<CommonVariables>) {
        let help = HelpText(
            name: name, summary: summary, flags: flags, own: table.variables, common: common.variables)
        switch request {
        case .help: end(.success, printing: help.manual)
        case .version: end(.success, printing: "\(name) \(BuildInformation.version)\n")
        case .misunderstood(let sentence): end(.usage, saying: sentence)
        case .configuration, .run, .flag: break
        }
        do throws(ConfigurationProblems) {
            let both = try Self.settings(table, common, in: environment)
            if request == .configuration {
                end(.success, printing: help.effectiveConfiguration(in: environment))
            }
            return both
        } catch {
            end(.configuration, saying: "\(error)")
        }
    }

    /// Both tables from one environment, with the problems of both in one list.
    static func settings(
        _ table: Table, _ common: CommonVariables, in environment: EnvironmentReader
    ) throws(ConfigurationProblems) -> (Settings<Table>, Settings<CommonVariables>) {
        let declared = table.variables + common.variables
        let own = Result { () throws(ConfigurationProblems) in try Settings(table, in: environment) }
        let shared = Result { () throws(ConfigurationProblems) in try Settings(common, in: environment) }
        let undeclared = Settings<Table>.undeclared(in: environment, declared: declared)
        guard case .success(let own) = own, case .success(let shared) = shared, undeclared.isEmpty else {
            throw ConfigurationProblems(own.problems + shared.problems + undeclared)
        }
        return (own, shared)
    }

    private func end(_ code: ExitCode, printing text: String = "", saying sentence: String = "") -> Never {
        try? FileHandle.standardOutput.write(contentsOf: Data(text.utf8))
        if !sentence.isEmpty {
            try? FileHandle.standardError.write(contentsOf: Data("\(name): \(sentence)\n".utf8))
        }
        exit(code.rawValue)
    }
}

extension Result where Failure == ConfigurationProblems {
    fileprivate var problems: [ConfigurationProblem] {
        guard case .failure(let failure) = self else { return [] }
        return failure.problems
    }
}
