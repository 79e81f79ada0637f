import Operations

/// A form that was not accepted. Its page is shown again with what was entered, and the fault at its field.
struct Rejection: Sendable {
    /// The decoded path that the form was sent to.
    let path: String
    /// The entered values, by the names of their fields.
    let form: [String: String]
    /// For the top of the page: what was not done, and why.
    let sentence: String
    /// The name of the field to change; nil where it is none or several.
    let field: String?
    /// For the field.
    let advice: String

    /// The names in forms of values that operations name otherwise.
    private static let fields = ["productId": "product", "endsAt": "days", "consumptionPercentage": "percentage"]

    /// Nil where other values in the form would not help.
    init?(_ error: any Error, of request: ConsoleRequest) {
        path = request.path
        form = request.form
        switch error {
        case let fault as Fault where fault.status == 422:
            sentence = "\(fault.what) \(fault.remedy)"
            field = fault.field
            advice = fault.remedy
        case let error as OperationError where error.kind != .notFound:
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
