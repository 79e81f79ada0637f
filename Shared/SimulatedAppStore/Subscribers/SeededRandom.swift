import Foundation

/// SplitMix64: equal seeds give equal numbers on every machine and in every release, which the system's generator and
/// `shuffled()` of the standard library do not promise.
struct SeededRandom: RandomNumberGenerator, Sendable, Equatable {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// At least 0, below 1.
    mutating func fraction() -> Double { Double(next() >> 11) * 0x1p-53 }

    /// True with this probability.
    mutating func chance(_ probability: Double) -> Bool { fraction() < probability }

    /// At least 0, below `count`, which is at least 1.
    mutating func index(below count: Int) -> Int { Int(next() % UInt64(count)) }

    /// An element of a collection that is not empty.
    mutating func element<Element>(of elements: [Element]) -> Element { elements[index(below: elements.count)] }

    /// A version 4 UUID.
    mutating func uuid() -> UUID {
        let high = (next() & 0xFFFF_FFFF_FFFF_0FFF) | 0x4000
        let low = (next() & 0x3FFF_FFFF_FFFF_FFFF) | 0x8000_0000_0000_0000
        let bytes = [high, low].flatMap { half in (0..<8).map { UInt8(truncatingIfNeeded: half >> (56 - 8 * $0)) } }
        return UUID(
            uuid: (
                bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5], bytes[6], bytes[7],
                bytes[8], bytes[9], bytes[10], bytes[11], bytes[12], bytes[13], bytes[14], bytes[15]
            ))
    }
}
