import ArgumentParser
import Chassis
import Foundation

var running: (any Verb.Type)?
do {
    var command = try CommandLineTool.parseAsRoot()
    // What is no verb is a request for help, which the parser answers itself.
    guard let verb = command as? any Verb else {
        try command.run()
        exit(0)
    }
    running = type(of: verb)
    let environment = ProcessInfo.processInfo.environment
    try await verb.run(
        in: Surroundings(
            now: { Date() }, seed: { .random(in: 1...999_999) }, id: { UUID() },
            executable: Bundle.main.executablePath, environment: environment,
            user: environment["SUDO_USER"] ?? NSUserName(), print: { print($0) },
            warn: { try? FileHandle.standardError.write(contentsOf: Data("\($0)\n".utf8)) },
            confirm: Confirmation.atTerminal))
} catch {
    guard let complaint = Complaint(error, of: running) else { CommandLineTool.exit(withError: error) }
    if !complaint.text.isEmpty {
        try? FileHandle.standardError.write(contentsOf: Data("\(complaint.text)\n".utf8))
    }
    exit(complaint.exitCode)
}
