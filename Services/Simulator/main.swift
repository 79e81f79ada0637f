import Foundation
import SimulatedAppStore
import UnixSignals

let stop = StopSwitch()
Task {
    for await _ in await UnixSignalsSequence(trapping: .sigterm, .sigint) { stop.turnOn() }
}

do {
    var command = try SimulatorCommand.parseAsRoot()
    if let work = command as? any SimulatorWork {
        try await work.run(
            in: CommandContext(now: { Date() }, stop: stop, environment: ProcessInfo.processInfo.environment))
    } else {
        // Only --help is left.
        try command.run()
    }
} catch {
    SimulatorCommand.exit(withError: error)
}
