import Commands
import Operations

/// The progress of a long job as one line. Pure.
struct ProgressLine: Sendable {
    /// Unit, such as `customers`.
    var noun: String
    var total: Int
    var done: Int
    /// Of `done`, the part of earlier runs, which does not count for the rate.
    var doneBefore = 0
    var elapsed: Duration

    /// For a terminal: a bar, the rate and the remaining time.
    func bar(width: Int = 30) -> String {
        let share = total > 0 ? Double(done) / Double(total) : 1
        let full = Int((share * Double(width)).rounded(.down))
        let bar = String(repeating: "#", count: full) + String(repeating: ".", count: width - full)
        return "[\(bar)] \(text)"
    }

    /// The same without the bar.
    var text: String {
        let percent = total > 0 ? done * 100 / total : 100
        return "\(done) of \(total) \(noun) (\(percent) %)\(pace)"
    }

    private var pace: String {
        let seconds = elapsed.seconds
        let current = done - doneBefore
        guard seconds > 0, current > 0 else { return "" }
        let rate = Double(current) / seconds
        let rounded = rate < 10 ? "\((rate * 10).rounded() / 10)" : "\(Int(rate.rounded()))"
        guard done < total else { return ", \(rounded) a second" }
        return ", \(rounded) a second, \(TimeSpan.text(seconds: Int((Double(total - done) / rate).rounded(.up)))) left"
    }
}
