/// Lengths of time as people read them.
package enum TimeSpan {
    /// `59 s`, `12 min`, `3 h 5 min`, `2 d 4 h`.
    package static func text(seconds: Int) -> String {
        switch seconds {
        case ..<120: "\(seconds) s"
        case ..<7200: "\(seconds / 60) min"
        case ..<172_800: "\(seconds / 3600) h \(seconds % 3600 / 60) min"
        default: "\(seconds / 86_400) d \(seconds % 86_400 / 3600) h"
        }
    }

    /// The text of an age, which is never negative.
    package static func age(_ seconds: Double) -> String { text(seconds: Int(max(0, seconds))) }
}
