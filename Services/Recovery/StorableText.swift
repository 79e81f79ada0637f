extension String {
    /// Shortened and without NUL characters, which Postgres cannot store.
    var storable: String { String(prefix(512).filter { $0 != "\0" }) }
}
