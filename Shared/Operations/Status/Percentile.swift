extension [Double] {
    /// The value that this share of a sorted list does not exceed; nil of an empty one.
    package func percentile(_ share: Double) -> Double? {
        isEmpty ? nil : self[Swift.min(count - 1, Int(share * Double(count)))]
    }
}
