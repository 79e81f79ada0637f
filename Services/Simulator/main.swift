import Foundation
import UnixSignals

let stop = StopSwitch()
Task {
    for await _ in await UnixSignalsSequence(trapping: .sigterm, .sigint) { stop.turnOn() }
}

do {
    var command = try SimulatorCommand.parseAsRoot()
    if let work = command as? any SimulatorWork {
        try await work.run(in: Surroundings(now: { Date() }, stop: stop))
    } else {
        // Only the help is left.
        try command.run()
    }
} catch {
    SimulatorCommand.exit(withError: error)
}
