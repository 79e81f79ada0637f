extension Int64 {
    /// `1234567` as `1,234,567`.
    package var grouped: String {
        var text = ""
        let digits = String(magnitude)
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index) % 3 == 0 { text += "," }
            text.append(digit)
        }
        return (self < 0 ? "-" : "") + text
    }
}

extension Double {
    /// A number of milliseconds as `80 ms`, from 10 s on as `12 s`.
    package var inMilliseconds: String {
        self < 10_000 ? "\(Int64(rounded())) ms" : "\(Int64((self / 1000).rounded())) s"
    }
}
