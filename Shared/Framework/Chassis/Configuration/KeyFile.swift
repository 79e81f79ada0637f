import struct Foundation.Data
import class Foundation.FileManager

/// A file with keys, one on each line.
public enum KeyFile {
    /// The lines that are not empty.
    /// - Parameter variable: names the file.
    /// - Throws: a problem of the variable where the file cannot be read.
    public static func lines(of path: String, named variable: String) throws(ConfigurationProblems) -> [[UInt8]] {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw ConfigurationProblems([
                .unusable(
                    name: variable,
                    reason: "names \(path), which cannot be read; check that it exists and its permissions")
            ])
        }
        return [UInt8](data).split { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }.map(Array.init)
    }
}
