/// What every process can be told, whatever its work.
struct CommonVariables: VariableTable {
    let logLevel = Variable<Logger.Level>.choice(
        "STOREKEEPER_LOG_LEVEL", "least severe level that is logged", default: "info")
    let logFormat = Variable<LogFormat>.choice(
        "STOREKEEPER_LOG_FORMAT", "json is one object a line; auto is text on a terminal, json elsewhere",
        default: "auto")
    let adminAddress: Variable<ListenAddress>
    let adminPortFile = Variable.path(
        "STOREKEEPER_ADMIN_PORT_FILE", "file to write the admin server's port to, once it listens"
    ).optional
    let drainDelay = Variable.duration(
        "STOREKEEPER_DRAIN_DELAY", "how long to go on serving, not ready, after SIGTERM, so that load balancers notice",
        default: "0s")
    let shutdownDeadline = Variable.duration(
        "STOREKEEPER_SHUTDOWN_DEADLINE", "how long shutting down may take before the process ends itself with exit 1",
        default: "25s")

    init(adminAddress: String) {
        self.adminAddress = .address(
            "STOREKEEPER_ADMIN_ADDRESS", "where /livez, /readyz and /metrics are served", default: adminAddress)
    }

    func problems(in settings: Settings<CommonVariables>) -> [ConfigurationProblem] {
        guard settings.drainDelay >= settings.shutdownDeadline else { return [] }
        return [
            ConfigurationProblem(
                "STOREKEEPER_DRAIN_DELAY has to be shorter than STOREKEEPER_SHUTDOWN_DEADLINE, which includes it.")
        ]
    }
}
