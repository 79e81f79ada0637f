import Foundation

/// Files of passwords and keys that variables name.
enum SecretFiles {
    /// A file that every user may write is rejected: any of them could choose the key. Whether it exists, and its
    /// content, is checked where the file is read.
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
                    "names \(path), which every user may write (mode \(String(mode & 0o7777, radix: 8))); chmod 600 it, or 640 "
                    + "with the service's group")
        }
    }
}
