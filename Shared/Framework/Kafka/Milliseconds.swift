extension Duration {
    /// Whole milliseconds for C, rounded up so that a short wait does not become a busy loop; at least 0, and
    /// "for ever" becomes 24 days.
    package var wholeMilliseconds: Int32 {
        guard self > .zero else { return 0 }
        let (seconds, attoseconds) = components
        guard seconds < 2_000_000 else { return Int32.max }
        return Int32(seconds * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }
}
