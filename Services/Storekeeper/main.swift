import ArgumentParser
import Chassis
import Foundation

var running: (any Subcommand.Type)?
do {
    var command = try CommandLineTool.parseAsRoot()
    // Anything else is a request for help, which the parser answers itself.
    guard let subcommand = command as? any Subcommand else {
        try command.run()
        exit(0)
    }
    running = type(of: subcommand)
    let environment = ProcessInfo.processInfo.environment
    try await subcommand.run(
        in: CommandContext(
            now: { Date() }, seed: { .random(in: 1...999_999) }, id: { UUID() },
            executable: Bundle.main.executablePath, environment: environment,
            user: environment["SUDO_USER"] ?? NSUserName(), print: { print($0) },
            warn: { try? FileHandle.standardError.write(contentsOf: Data("\($0)\n".utf8)) },
            confirm: Confirmation.atTerminal))
} catch {
    guard let presentation = ErrorPresentation(error, of: running) else { CommandLineTool.exit(withError: error) }
    if !presentation.text.isEmpty {
        try? FileHandle.standardError.write(contentsOf: Data("\(presentation.text)\n".utf8))
    }
    exit(presentation.exitCode)
}
