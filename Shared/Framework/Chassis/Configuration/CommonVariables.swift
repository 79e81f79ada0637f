import struct Foundation.URL

/// Variables of every process.
struct CommonVariables: VariableTable {
    let logLevel = Variable<Logger.Level>.choice(
        "STOREKEEPER_LOG_LEVEL", "least severe level that is logged", default: "info")
    let logFormat = Variable<LogFormat>.choice(
        "STOREKEEPER_LOG_FORMAT", "json: one object per line; auto: text on a terminal, json elsewhere",
        default: "auto")
    let adminAddress: Variable<ListenAddress>
    let adminPortFile = Variable.path(
        "STOREKEEPER_ADMIN_PORT_FILE", "file to write the admin server's port to once it listens"
    ).optional
    let drainDelay = Variable.duration(
        "STOREKEEPER_DRAIN_DELAY", "time to continue serving, not ready, after SIGTERM, so that load balancers notice",
        default: "0s")
    let shutdownDeadline = Variable.duration(
        "STOREKEEPER_SHUTDOWN_DEADLINE", "maximum duration of a shutdown; then the process exits with 1",
        default: "25s")
    // OpenTelemetry's own names, so that the settings of other services work here unchanged.
    let traceEndpoint = Variable.url(
        "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
        "URL to post traces to as http/protobuf, such as http://127.0.0.1:4318/v1/traces; without it tracing is off"
    ).optional
    let traceRatio = Variable.double(
        "OTEL_TRACES_SAMPLER_ARG", "share of the traces that is recorded, 0 to 1", default: "1", in: 0...1)
    let traceHeadersFile = Variable.path(
        "STOREKEEPER_OTLP_HEADERS_FILE",
        "file with a line `name: value` for each header of requests to the trace collector"
    ).optional

    let developmentClockFile = Variable.path(
        "STOREKEEPER_DEVELOPMENT_CLOCK_FILE",
        "file of a simulator's clock, by which this process is ahead of the time of day; never in production"
    ).optional

    init(adminAddress: String) {
        self.adminAddress = .address(
            "STOREKEEPER_ADMIN_ADDRESS", "address of /livez, /readyz and /metrics", default: adminAddress)
    }

    func problems(in settings: Settings<CommonVariables>) -> [ConfigurationProblem] {
        var problems: [ConfigurationProblem] = []
        if settings.drainDelay >= settings.shutdownDeadline {
            problems.append(
                ConfigurationProblem(
                    "STOREKEEPER_DRAIN_DELAY must be shorter than STOREKEEPER_SHUTDOWN_DEADLINE, which includes it."))
        }
        do throws(ConfigurationProblem) { _ = try settings.traceHeaders() } catch { problems.append(error) }
        return problems
    }
}
