import Foundation

/// Files of passwords and keys that variables name.
enum SecretFiles {
    /// A file that everybody on the machine may write is refused: who can write a key chooses it. Whether it is there, and what
    /// it holds, is checked where the file is read.
    static func problems(
        in reader: EnvironmentReader, declared: [any DeclaredVariable]
    ) -> [ConfigurationProblem] {
        reader.names(withPrefix: "").sorted().compactMap { name in
            guard name.hasSuffix("_FILE"), ["PASSWORD", "KEY", "SECRET"].contains(where: name.contains),
                declared.contains(where: { $0.covers(name) }), let path = reader.text(of: name),
                let attributes = try? FileManager.default.attributesOfItem(atPath: path),
                let mode = attributes[.posixPermissions] as? Int, mode & 0o002 != 0
            else { return nil }
            return .unusable(
                name: name,
                reason:
                    "names \(path), which everybody may write (mode \(String(mode & 0o7777, radix: 8))); chmod 600 it, or 640 "
                    + "with the service's group")
        }
    }
}
