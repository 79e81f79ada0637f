/// A page that cannot be shown, or an action that was not done, and what to do.
struct Fault: Error, Equatable {
    let status: Int
    let what: String
    let remedy: String

    init(_ status: Int, _ what: String, _ remedy: String) {
        self.status = status
        self.what = what
        self.remedy = remedy
    }

    static func notFound(_ what: String) -> Fault {
        Fault(404, what, "Check the address, or search for an id.")
    }
}
