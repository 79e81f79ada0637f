extension String {
    /// As the database can keep it: what strangers or Apple wrote may hold NULs, and may be long.
    var storable: String { String(prefix(512).filter { $0 != "\0" }) }
}
