import Foundation

/// How log lines look.
public enum LogFormat: String, Sendable, CaseIterable {
    /// One JSON object per line, for programs.
    case json
    /// One readable line, for people.
    case text
    /// Text if standard output is a terminal, else JSON.
    case auto

    var isText: Bool {
        switch self {
        case .json: false
        case .text: true
        case .auto: isatty(STDOUT_FILENO) == 1
        }
    }
}
