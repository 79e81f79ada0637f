import Chassis
import Commands
import Foundation

let environment = ProcessInfo.processInfo.environment
/// The clock of a development run, which its services have, too; nil without one.
func developmentClock(_ file: String?) -> DevelopmentClock? {
    guard let file else { return nil }
    do throws(ConfigurationProblem) { return try DevelopmentClock(file: file) } catch {
        try? FileHandle.standardError.write(contentsOf: Data("Error: \(error)\n".utf8))
        exit(78)
    }
}

let clock = developmentClock(environment["STOREKEEPER_DEVELOPMENT_CLOCK_FILE"])
var context = CommandContext(
    now: { clock?.moved(Date()) ?? Date() }, seed: { .random(in: 1...999_999) }, id: { UUID() },
    executable: Bundle.main.executablePath, environment: environment,
    user: environment["SUDO_USER"] ?? NSUserName(), print: { print($0) },
    warn: { try? FileHandle.standardError.write(contentsOf: Data("\($0)\n".utf8)) },
    confirm: Confirmation.atTerminal)
context.style = .standardOutput(environment)
await CommandLineTool.main(in: context)
