import Storage

extension DocumentVersion {
    /// What adding the next version would do.
    var replacement: String { "Version \(number + 1) would replace version \(number) of \(createdAt.text)." }
}
