/// A page that cannot be shown, or an action that was not done, and what to do.
struct Fault: Error, Equatable {
    let status: Int
    let what: String
    let remedy: String
    /// The name of the field of the form that has to be changed; nil where it is none or several.
    let field: String?
    /// Whether the form was sent before: its page is shown again with a new one.
    let isRepetition: Bool

    init(
        _ status: Int, _ what: String, _ remedy: String, field: String? = nil, isRepetition: Bool = false
    ) {
        self.status = status
        self.what = what
        self.remedy = remedy
        self.field = field
        self.isRepetition = isRepetition
    }

    static func notFound(_ what: String) -> Fault {
        Fault(404, what, "Check the address, or search for an id.")
    }
}
