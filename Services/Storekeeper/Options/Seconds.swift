import ArgumentParser
import Commands

/// A duration in seconds, such as `3` or `0.5`; from a millisecond to a day.
struct Seconds: ExpressibleByArgument, Equatable {
    let duration: Duration

    init?(argument: String) {
        guard let number = Double(argument), (0.001...86_400).contains(number) else { return nil }
        duration = .milliseconds(Int64(number * 1000))
    }

    init(_ seconds: Int64) { duration = .seconds(seconds) }

    var defaultValueDescription: String { "\(duration.components.seconds)" }
}
