import Operations

/// A form that was not accepted. Its page is shown again with what was entered, and the fault at its field.
struct Rejection: Sendable {
    /// The decoded path that the form was sent to.
    let path: String
    /// The entered values, by the names of their fields; none of a form that was sent before: its page shows a new one.
    let form: [String: String]
    /// Of the page.
    let status: Int
    /// For the top of the page: what was not done, and why.
    let sentence: String
    /// The name of the field to change; nil where it is none or several.
    let field: String?
    /// For the field.
    let advice: String

    /// The names in forms of values that operations name otherwise.
    private static let fields = [
        "productId": "product", "endsAt": "days", "consumptionPercentage": "percentage", "bundleIds": "app",
        "events": "event", "facts": "fact",
    ]

    /// Nil where other values in the form would not help.
    init?(_ error: any Error, of request: ConsoleRequest) {
        path = request.path
        switch error {
        case let fault as Fault where fault.status == 422 || fault.isRepetition:
            form = fault.isRepetition ? [:] : request.form
            status = fault.status
            sentence = "\(fault.what) \(fault.remedy)"
            field = fault.field
            advice = fault.remedy
        case let error as OperationError where error.kind != .notFound:
            form = request.form
            status = 422
            let text = error.description
            sentence = "Nothing was done: \(text)."
            if case .invalid(let name) = error.kind { field = Self.fields[name] ?? name } else { field = nil }
            advice = text.prefix(1).uppercased() + String(text.dropFirst()) + "."
        default: return nil
        }
    }

    /// True for the rejection of a form with this address and these hidden fields.
    func isOf(_ address: String, _ hidden: [(String, String)]) -> Bool {
        "/" + address.split(separator: "/").compactMap { FormFields.text($0) }.joined(separator: "/") == path
            // An id says which sending it is, not which form.
            && hidden.allSatisfy { name, value in name == "id" || form[name] == value }
    }
}
