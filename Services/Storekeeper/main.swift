import Chassis
import Commands
import Foundation

let environment = ProcessInfo.processInfo.environment
// As the services of the same development run.
let clock = environment["STOREKEEPER_DEVELOPMENT_CLOCK_FILE"].flatMap { try? DevelopmentClock(file: $0) }
await CommandLineTool.main(
    in: CommandContext(
        now: { clock?.moved(Date()) ?? Date() }, seed: { .random(in: 1...999_999) }, id: { UUID() },
        executable: Bundle.main.executablePath, environment: environment,
        user: environment["SUDO_USER"] ?? NSUserName(), print: { print($0) },
        warn: { try? FileHandle.standardError.write(contentsOf: Data("\($0)\n".utf8)) },
        confirm: Confirmation.atTerminal))
