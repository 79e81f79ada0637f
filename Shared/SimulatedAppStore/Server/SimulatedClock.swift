import Chassis
import Foundation
import Synchronization

/// The clock of a run, which a person moves forward by command.
final class SimulatedClock: Sendable {
    /// The certificates of a run are valid for 401 days.
    static let limit: TimeInterval = 400 * 86_400

    private let base: @Sendable () -> Date
    /// Shared with other processes; nil where this one alone moves.
    private let file: DevelopmentClock?
    private let own = Mutex<Int64>(0)

    /// - Parameter base: the time of day.
    init(base: @escaping @Sendable () -> Date, file: DevelopmentClock?) {
        self.base = base
        self.file = file
    }

    /// Milliseconds by which it is ahead of the time of day.
    var milliseconds: Int64 { file?.milliseconds ?? own.withLock { $0 } }

    func now() -> Date { base().addingTimeInterval(Double(milliseconds) / 1000) }

    /// - Throws: ``SimulatorError`` where it would be ahead too far.
    func advance(by seconds: TimeInterval) throws {
        let ahead = milliseconds + Int64((min(max(seconds, 0), Self.limit + 1) * 1000).rounded())
        guard seconds > 0, Double(ahead) <= Self.limit * 1000 else {
            throw SimulatorError(
                "the clock moves forward only, and in all by 400 days, for which the certificates of a run are valid; it is "
                    + "\(milliseconds / 86_400_000) days and \(milliseconds / 60_000 % 1440) minutes ahead: "
                    + "start the simulator again to go further, and Deploy/run without --keep")
        }
        if let file { file.advance(to: ahead) } else { own.withLock { $0 = ahead } }
    }

    /// Seconds of a text such as `31d`, `12h`, `90m`, `45s` or `2w`, or several of them: `1d12h`.
    static func seconds(_ text: String) -> TimeInterval? {
        let units: [Character: TimeInterval] = ["s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800]
        var (sum, number) = (0.0, "")
        for character in text {
            if character.isASCII, character.isNumber {
                number.append(character)
            } else {
                guard let unit = units[character], number.count <= 9, let count = Double(number) else { return nil }
                sum += count * unit
                number = ""
            }
        }
        return number.isEmpty && sum > 0 ? sum : nil
    }

    /// The text that `clock advance` takes, such as `30d12h`, of at least so many seconds.
    static func argument(_ seconds: TimeInterval) -> String {
        let parts = parts(max(1, seconds.rounded(.up)))
        return parts.map { "\($0.count)\($0.unit.prefix(1))" }.joined()
    }

    /// Words for a person, such as `1 day 12 hours`.
    static func words(_ seconds: TimeInterval) -> String {
        let parts = parts(max(0, seconds.rounded()))
        return parts.isEmpty
            ? "0 seconds" : parts.map { "\($0.count) \($0.unit)\($0.count == 1 ? "" : "s")" }.joined(separator: " ")
    }

    /// Whole seconds by units, without those of which there are none.
    private static func parts(_ seconds: TimeInterval) -> [(count: Int64, unit: String)] {
        var rest = Int64(seconds)
        var parts: [(count: Int64, unit: String)] = []
        for (length, unit) in [(Int64(86_400), "day"), (3600, "hour"), (60, "minute"), (1, "second")] {
            if rest >= length { parts.append((rest / length, unit)) }
            rest %= length
        }
        return parts
    }
}
