extension Int {
    /// `1 dead letter`, `2 dead letters`.
    /// - Parameter plural: where it is not the noun with an s.
    package func counted(_ noun: String, _ plural: String? = nil) -> String {
        "\(self) \(self == 1 ? noun : plural ?? noun + "s")"
    }
}
