import Hummingbird

/// Hummingbird exports the list of fields, not the field.
typealias HTTPField = HTTPFields.Element

extension HTTPFields {
    /// The value of ``HTTPField/Name/fetchSite``: `none` is the person; nil where the browser does not say.
    var fetchSite: String? { self[values: .fetchSite].first }
}

extension HTTPField.Name {
    /// The browser says with it where the page that sent a request comes from.
    static let fetchSite = named("Sec-Fetch-Site")

    private static func named(_ name: String) -> HTTPField.Name {
        guard let name = HTTPField.Name(name) else { preconditionFailure("\(name) is not a header's name") }
        return name
    }
}
