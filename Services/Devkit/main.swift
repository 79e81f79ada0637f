import Commands
import Foundation

let environment = ProcessInfo.processInfo.environment
await Devkit.main(
    in: CommandContext(
        now: { Date() }, seed: { .random(in: 1...999_999) }, id: { UUID() },
        executable: Bundle.main.executablePath, environment: environment,
        user: environment["SUDO_USER"] ?? NSUserName(), print: { print($0) },
        warn: { try? FileHandle.standardError.write(contentsOf: Data("\($0)\n".utf8)) },
        confirm: nil))
