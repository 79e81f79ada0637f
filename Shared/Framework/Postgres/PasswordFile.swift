import Foundation

extension PostgresConfiguration {
    /// The content of a password file without the newline that editors put at its end.
    static func password(from path: String) throws(PostgresError) -> String {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw PostgresError(
                .notPermitted, "the password file \(path) cannot be read; check that it exists and its permissions")
        }
        guard let text = String(data: data, encoding: .utf8) else {
            throw PostgresError(.notPermitted, "the password file \(path) is not UTF-8 text")
        }
        let password = text.trimmingCharacters(in: .newlines)
        guard !password.isEmpty, !password.utf8.contains(0) else {
            throw PostgresError(.notPermitted, "the password file \(path) is empty or holds a NUL byte")
        }
        return password
    }
}
