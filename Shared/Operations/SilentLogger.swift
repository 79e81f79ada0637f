import Logging

extension Logger {
    /// Logs nothing: errors are in return values.
    package static let silent = Logger(label: "storekeeper.dev") { _ in SwiftLogNoOpLogHandler() }
}
