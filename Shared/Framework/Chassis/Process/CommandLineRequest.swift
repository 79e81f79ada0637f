/// The command line of a service.
///
/// All configuration is in the environment.
enum CommandLineRequest: Equatable {
    case run
    /// One of the service's own flags, with its dashes.
    case flag(String)
    case help
    case version
    case configuration
    case misunderstood(String)

    /// - Parameters:
    ///   - arguments: without the name of the executable.
    ///   - flags: those of the service.
    init(_ arguments: some Collection<String>, flags: [String: String] = [:]) {
        guard let argument = arguments.first else {
            self = .run
            return
        }
        guard arguments.count == 1 else {
            self = .misunderstood("Expected at most one argument, not \(arguments.count); see --help.")
            return
        }
        switch argument {
        case "--help", "-h": self = .help
        case "--version": self = .version
        case "--config": self = .configuration
        case let flag where flags[flag] != nil: self = .flag(flag)
        default: self = .misunderstood("\"\(argument)\" is not an argument of this service; see --help.")
        }
    }
}
