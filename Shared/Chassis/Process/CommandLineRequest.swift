/// What the command line of a service asks for.
///
/// Everything that configures it is in the environment.
enum CommandLineRequest: Equatable {
    case run
    case help
    case version
    case configuration
    case misunderstood(String)

    /// - Parameter arguments: without the name of the executable.
    init(_ arguments: some Collection<String>) {
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
        default: self = .misunderstood("\"\(argument)\" is not an argument of this service; see --help.")
        }
    }
}
