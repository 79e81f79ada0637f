import HTTPLimits

import struct Foundation.URL

// Each kind takes the name, the meaning and, where there is one, the default as an operator would write it.
// A variable without a default must be set. No kind has a default of its own: an operator names places, secrets and apps.

extension Variable {
    /// A variable of any kind: `parse` returns nil for text that it cannot read, and `expected` finishes the sentence
    /// "… is not …".
    public static func parsed(
        _ name: String, _ meaning: String, default defaultText: String? = nil, expected: String,
        parse: @escaping @Sendable (String) -> Value?
    ) -> Variable {
        Variable(
            name: name, meaning: meaning, defaultText: defaultText, isOptional: false, isSecret: false
        ) { environment throws(ConfigurationProblem) in
            guard let text = environment.text(of: name) ?? defaultText else {
                throw .missing(name: name, meaning: meaning)
            }
            guard let value = parse(text) else { throw .unreadable(name: name, text: text, expected: expected) }
            return value
        }
    }
}

extension Variable where Value == String {
    /// Any text but the empty one.
    public static func string(_ name: String, _ meaning: String, default text: String? = nil) -> Variable {
        parsed(name, meaning, default: text, expected: "text") { $0 }
    }

    /// A path in the file system; whether the file exists is checked where it is opened.
    public static func path(_ name: String, _ meaning: String, default text: String? = nil) -> Variable {
        parsed(name, meaning, default: text, expected: "a path") { $0.contains("\0") ? nil : $0 }
    }
}

extension Variable where Value == Int {
    /// A whole number within `range`.
    public static func int(
        _ name: String, _ meaning: String, default text: String? = nil, in range: ClosedRange<Int>
    ) -> Variable {
        let expected = "a whole number from \(range.lowerBound) to \(range.upperBound)"
        return parsed(name, meaning, default: text, expected: expected) { text in
            Int(text).flatMap { range.contains($0) ? $0 : nil }
        }
    }

    /// A number of bytes: `1048576`, `64KiB`, `1MiB`, `2GiB`.
    public static func byteCount(_ name: String, _ meaning: String, default text: String? = nil) -> Variable {
        parsed(name, meaning, default: text, expected: "a number of bytes such as 64KiB or 1MiB", parse: Quantity.bytes)
    }
}

extension Variable where Value == Double {
    /// A number within `range`, for ratios.
    public static func double(
        _ name: String, _ meaning: String, default text: String? = nil, in range: ClosedRange<Double>
    ) -> Variable {
        let expected = "a number from \(range.lowerBound) to \(range.upperBound)"
        return parsed(name, meaning, default: text, expected: expected) { text in
            Double(text).flatMap { range.contains($0) ? $0 : nil }
        }
    }
}

extension Variable where Value == Bool {
    /// `true` or `false`, nothing else: `yes` and `1` are rejected rather than guessed.
    public static func bool(_ name: String, _ meaning: String, default text: String? = nil) -> Variable {
        parsed(name, meaning, default: text, expected: "true or false") { Bool($0) }
    }
}

extension Variable where Value == Duration {
    /// A duration with its unit: `250ms`, `5s`, `2m`, `1h`, `7d`.
    public static func duration(_ name: String, _ meaning: String, default text: String? = nil) -> Variable {
        let expected = "a length of time such as 250ms, 5s, 2m, 1h or 7d"
        return parsed(name, meaning, default: text, expected: expected, parse: Quantity.duration)
    }
}

extension Variable where Value == URL {
    /// An absolute URL; a password in it is hidden wherever the configuration is shown.
    public static func url(_ name: String, _ meaning: String, default text: String? = nil) -> Variable {
        parsed(name, meaning, default: text, expected: "an absolute URL such as https://example.org/path") { text in
            guard let url = URL(string: text), url.scheme != nil, url.host != nil, url.hasUsablePort else { return nil }
            return url
        }
    }
}

extension Variable where Value == [String] {
    /// Values separated by commas; spaces around them are ignored, and an empty one is rejected.
    public static func list(_ name: String, _ meaning: String, default text: String? = nil) -> Variable {
        parsed(name, meaning, default: text, expected: "a list separated by commas, without empty entries") { text in
            let entries = text.split(separator: ",", omittingEmptySubsequences: false).map { $0.trimmed() }
            return entries.contains("") ? nil : entries
        }
    }
}

extension Variable where Value == ListenAddress {
    /// An address to listen on, `host:port`; port 0 lets the system choose one.
    public static func address(_ name: String, _ meaning: String, default text: String? = nil) -> Variable {
        parsed(name, meaning, default: text, expected: "host:port such as 127.0.0.1:8080 or [::1]:8080") { text in
            ListenAddress(text)
        }
    }
}

extension Variable where Value: RawRepresentable & CaseIterable, Value.RawValue == String {
    /// One of the names of an enumeration.
    public static func choice(_ name: String, _ meaning: String, default text: String? = nil) -> Variable {
        let expected = "one of " + Value.allCases.map(\.rawValue).joined(separator: ", ")
        return parsed(name, meaning, default: text, expected: expected) { Value(rawValue: $0) }
    }
}

extension Variable where Value == [String: String] {
    /// Every variable with a prefix, unchanged: settings that are passed on to a library.
    ///
    /// Their names are shown but never their values, because any of them may be secret.
    public static func passedThrough(prefix: String, _ meaning: String) -> Variable {
        Variable(
            name: prefix + "*", meaning: meaning, defaultText: nil, isOptional: true, isSecret: true
        ) { environment throws(ConfigurationProblem) in
            environment.all(withPrefix: prefix)
        }
    }
}
