import Subscriptions

/// Something that shall happen in a generated life. What cannot happen when its turn comes is left out, so that any
/// subsequence of deeds is a life as well, and a failing one can be shrunk.
struct Deed: Sendable, Equatable, CustomStringConvertible {
    var eventType: EventType
    /// How long after the one before, in minutes.
    var minutes: Int
    /// Decides between variants.
    var choice: Int

    var description: String { "\(eventType.rawValue) +\(minutes)min \(choice)" }

    static func life(seed: UInt64) -> [Deed] {
        var generator = SplitMix(seed: seed)
        let first: EventType =
            [.subscribed, .subscribed, .subscribedByOffer, .migrated]
            .randomElement(using: &generator) ?? .subscribed
        let count = Int.random(in: 1...40, using: &generator)
        var deeds = [Deed(eventType: first, minutes: 0, choice: Int.random(in: 0..<1000, using: &generator))]
        for _ in 0..<count {
            deeds.append(
                Deed(
                    eventType: EventType.allCases.randomElement(using: &generator) ?? .renewed,
                    minutes: Int.random(in: 0...4000, using: &generator),
                    choice: Int.random(in: 0..<1000, using: &generator)))
        }
        return deeds
    }
}

/// The shortest life found that still fails: deeds are taken away one by one as long as it does.
func shrunk(_ deeds: [Deed], while fails: ([Deed]) -> Bool) -> [Deed] {
    var deeds = deeds
    var index = 0
    while index < deeds.count {
        var fewer = deeds
        fewer.remove(at: index)
        if fails(fewer) {
            deeds = fewer
            index = 0
        } else {
            index += 1
        }
    }
    return deeds
}
