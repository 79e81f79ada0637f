import Mustache
import Operations
import Synchronization

/// A view model as the templates see it: every text is safe to show, and every name that a template uses exists.
///
/// Made from a struct by reflection. The library would look in enclosing objects for what is nil, and would not escape a
/// quotation mark that a combining character follows; here nil is a value, and both are separated.
struct ViewNode: MustacheParent {
    private let children: [String: Any]
    private let missing: MissingNames?

    /// - Parameter missing: told of names that no object has; only of the outermost.
    init(_ model: Any, missing: MissingNames? = nil) {
        self.init(Mirror(reflecting: model).children.map { ($0.label ?? "", $0.value) }, missing: missing)
    }

    init(_ fields: [(String, Any)], missing: MissingNames? = nil) {
        children = Dictionary(fields.map { ($0.0, Self.value($0.1)) }) { first, _ in first }
        self.missing = missing
    }

    func child(named name: String) -> Any? {
        let child = children[name]
        if child == nil { missing?.add(name) }
        return child
    }

    private static func value(_ value: Any) -> Any {
        switch value {
        case let text as String: return ViewText.visible(text)
        case let text as Preformatted: return text.lines
        case let flag as Bool: return flag
        case let list as [Any]: return list.map(self.value)
        case let number as any BinaryInteger: return "\(number)"
        default: break
        }
        let mirror = Mirror(reflecting: value)
        switch mirror.displayStyle {
        case .optional: return mirror.children.first.map { self.value($0.value) } ?? Absent()
        case .struct: return ViewNode(value)
        default: return ViewText.visible(String(describing: value))
        }
    }
}

/// What is not there: shows nothing, and is false.
struct Absent: MustacheCustomRenderable {
    var renderText: String { "" }
    var isNull: Bool { true }
}

/// Text of several lines.
struct Preformatted: Sendable {
    let text: String

    fileprivate var lines: String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { ViewText.visible(String($0)) }
            .joined(separator: "\n")
    }
}

enum ViewText {
    /// The text with control, direction and invisible characters in their escaped form, and without characters that
    /// would combine with one that HTML gives a meaning: the library escapes by characters, a browser reads by scalars.
    static func visible(_ text: String) -> String {
        let escaped = text.escaped
        guard escaped.contains(where: { $0.unicodeScalars.count > 1 }) else { return escaped }
        var safe = ""
        for character in escaped {
            let scalars = character.unicodeScalars
            guard scalars.count > 1, scalars.contains(where: isMarkup) else {
                safe.append(character)
                continue
            }
            for (place, scalar) in scalars.enumerated() {
                // Some letters, such as U+0D4E, join what follows them to themselves.
                if place > 0, isMarkup(scalar) { safe.unicodeScalars.append(alone) }
                safe.unicodeScalars.append(scalar)
                if place < scalars.count - 1, isMarkup(scalar) { safe.unicodeScalars.append(alone) }
            }
        }
        return safe
    }

    /// The sign on which a combining character is shown alone.
    private static let alone: Unicode.Scalar = "\u{25CC}"

    private static func isMarkup(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "<", ">", "&", "\"", "'": true
        default: false
        }
    }
}

/// Names that templates used and no view model has: a typo, which the library would render as nothing.
final class MissingNames: Sendable {
    private let names = Mutex<Set<String>>([])

    func add(_ name: String) { names.withLock { _ = $0.insert(name) } }

    var all: Set<String> { names.withLock { $0 } }
}
