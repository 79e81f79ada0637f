import Contracts
import Foundation
import Operations
import Storage

/// A point in time on a page.
struct Moment: Sendable {
    let iso: String
    let text: String
    /// `5 min ago`, `in 3 d 2 h`.
    let distance: String

    init(_ date: Date, now: Date) {
        iso = date.text
        text =
            date.formatted(
                Date.ISO8601FormatStyle().year().month().day().dateTimeSeparator(.space).time(
                    includingFractionalSeconds: false))
            + " UTC"
        let seconds = now.timeIntervalSince(date)
        distance =
            abs(seconds) < 1 ? "now" : seconds > 0 ? "\(TimeSpan.age(seconds)) ago" : "in \(TimeSpan.age(-seconds))"
    }
}

/// Hides customers' ids from people who need not know them.
struct Masking: Sendable {
    let role: Role

    var isOn: Bool { role < .support }

    /// `2000…0001`; as it is for support.
    func id(_ id: String) -> String {
        guard isOn else { return id }
        return id.count > 8 ? "\(id.prefix(4))…\(id.suffix(4))" : "…"
    }

    func id(_ id: String?) -> String? { id.map { self.id($0) } }

    /// The page of a purchase. Without ids in the address where they are hidden: by a notification about it.
    func purchase(_ key: SubscriptionKeyText, told uuid: UUID?) -> String? {
        guard isOn else { return "/purchases/\(key.environment)/\(FormFields.encode(key.id))" }
        return uuid.map { "/purchases/by/\($0.uuidString.lowercased())" }
    }

    func account(_ account: UUID?, in environment: StoreEnvironment) -> String? {
        guard !isOn, let account else { return nil }
        return "/accounts/\(environment.rawValue)/\(account.uuidString.lowercased())"
    }
}

/// Which purchase.
struct SubscriptionKeyText: Sendable {
    let environment: String
    let id: String
}

/// Numbers as people read them.
enum Figures {
    /// `1,234,567`.
    static func grouped(_ number: Int64) -> String {
        var text = ""
        for (index, digit) in String(number.magnitude).reversed().enumerated() {
            if index > 0, index % 3 == 0 { text.append(",") }
            text.append(digit)
        }
        return (number < 0 ? "-" : "") + String(text.reversed())
    }

    /// `1,234.57 EUR`, to the hundredth of a unit.
    static func amount(_ thousandths: Int64, _ currency: String) -> String {
        let hundredths = (thousandths.magnitude + 5) / 10
        let units = grouped(Int64(hundredths / 100)) + "." + String(hundredths % 100 + 100).dropFirst()
        return (thousandths < 0 && hundredths > 0 ? "-" : "") + units + (currency.isEmpty ? "" : " \(currency)")
    }

    /// `about 4.2 million`: a count of so many would take minutes.
    static func about(_ number: Int64) -> String {
        func rounded(_ unit: Int64, _ word: String) -> String {
            let tenths = (number * 10 + unit / 2) / unit
            return "about \(tenths / 10)\(tenths % 10 == 0 ? "" : ".\(tenths % 10)") \(word)"
        }
        return switch number {
        case ..<1000: grouped(number)
        case ..<1_000_000: rounded(1000, "thousand")
        case ..<1_000_000_000: rounded(1_000_000, "million")
        default: rounded(1_000_000_000, "billion")
        }
    }
}

/// A line of small figures: the points of an SVG polyline, 120 by 24.
struct Sparkline: Sendable {
    let points: String
    let label: String

    /// - Parameters:
    ///   - noun: what the figures count, for people who do not see it.
    ///   - text: a figure as people read it.
    init?(_ values: [Double], _ noun: String, text: (Double) -> String = { "\(Int($0.rounded()))" }) {
        guard values.count > 1, let most = values.max(), let least = values.min() else { return nil }
        let (height, low) = (20.0, min(0, least))
        let scale = max(0, most) > low ? height / (max(0, most) - low) : 0
        points = values.enumerated().map { index, value in
            let x = Double(index) * 120 / Double(values.count - 1)
            return "\((x * 10).rounded() / 10),\(((22 - (value - low) * scale) * 10).rounded() / 10)"
        }.joined(separator: " ")
        let last = values.last ?? 0
        label = "\(noun): now \(text(last)), at most \(text(most))"
    }
}

/// The same by hand, and what a form needs.
struct ActionForm: Sendable {
    struct Field: Sendable {
        let name: String
        let value: String
    }

    struct Input: Sendable {
        let id: String
        let name: String
        let label: String
        let type: String
        var value: String
        let hint: String?
        /// Offered, beside what a person types.
        let choices: [String]
        let hasChoices: Bool
        let isRequired: Bool
        /// True for a ticked checkbox.
        var isChecked = false
        /// The fault of the entered value.
        var fault: String?
        /// Ids of what is said about it.
        var describedBy: String?

        init(
            id: String, name: String, label: String, type: String, value: String, hint: String?, choices: [String] = [],
            isRequired: Bool = true
        ) {
            self.id = id
            self.name = name
            self.label = label
            self.type = type
            self.value = value
            self.hint = hint
            self.choices = choices
            hasChoices = !choices.isEmpty
            self.isRequired = isRequired
            describedBy = hint.map { _ in "\(id)-hint" }
        }

        /// The input with the value that was entered in a form that was rejected.
        func entered(_ rejection: Rejection) -> Input {
            var input = self
            if type == "checkbox" {
                input.isChecked = rejection.form[name] == value
            } else {
                input.value = rejection.form[name] ?? value
            }
            guard rejection.field == name else { return input }
            input.fault = rejection.advice
            input.describedBy = "\(id)-fault" + (hint == nil ? "" : " \(id)-hint")
            return input
        }
    }

    let id: String
    let title: String
    let explanation: String
    let address: String
    let button: String
    let hidden: [Field]
    let inputs: [Input]
    /// Works as it is printed; nil on the page of a dry run.
    let command: String?
    let token: String
    let isDangerous: Bool
    var asksReason = true
    /// Entered in a form that was rejected, else empty.
    let reason: String
    let reasonFault: String?
    /// Whether the form has a second button, which shows what would happen.
    let offersPlan: Bool

    init(
        id: String, title: String, explanation: String, address: String, button: String,
        hidden: [(String, String)] = [],
        inputs: [Input] = [], command: String?, isDangerous: Bool = false, offersPlan: Bool = false,
        _ request: ConsoleRequest
    ) {
        self.id = id
        self.title = title
        self.explanation = explanation
        self.address = address
        self.button = button
        self.hidden = hidden.map(Field.init)
        let rejection = request.rejection.flatMap { $0.isOf(address, hidden) ? $0 : nil }
        self.inputs = rejection.map { rejection in inputs.map { $0.entered(rejection) } } ?? inputs
        reason = rejection?.form["reason"] ?? ""
        reasonFault = rejection?.field == "reason" ? rejection?.advice : nil
        self.command = command
        token = request.token
        self.isDangerous = isDangerous
        self.offersPlan = offersPlan
    }
}

/// A text that a shell takes as one word.
func shellWord(_ text: String) -> String {
    let isPlain = text.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "/"), UInt8(ascii: ":"):
            true
        default: false
        }
    }
    return isPlain && !text.isEmpty ? text : text.shellQuoted
}
