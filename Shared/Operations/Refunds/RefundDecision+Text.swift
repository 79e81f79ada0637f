import Refunds
import Storage

extension RefundDecision {
    /// One line.
    package var text: String {
        switch self {
        case .answer(let answer, let rule):
            "\(String(decoding: answer.body, as: UTF8.self)) (rule “\(rule.escaped)”)"
        case .withhold(let reason, let rule):
            "nothing: \(reason.rawValue)" + (rule.map { " (rule “\($0.escaped)”)" } ?? "")
        case .wait(let until, let rule): "waits for usage until \(until.text) (rule “\(rule.escaped)”)"
        }
    }
}

extension RefundRequestPages.Entry {
    /// In units of the currency; nil where Apple's payload has none.
    package var price: String? {
        priceMilliunits.map { milliunits in
            let cents = milliunits % 1000 / 10
            return "\(milliunits / 1000).\(cents < 10 ? "0" : "")\(cents) \(currency ?? "")"
        }
    }
}

extension RefundRequestPages.Answer {
    /// The rule, or who or what decided instead.
    package var said: String { rule ?? (decidedBy == "policy" ? withheldBecause ?? "-" : "by \(decidedBy)") }
}
