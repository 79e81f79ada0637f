import Foundation

/// Tells whether watched files have changed.
package enum FileFingerprint {
    /// Changes whenever a file does, whether it was written in place or replaced.
    package static func of(_ files: [String]) -> [String] {
        files.map { file in
            let attributes = (try? FileManager.default.attributesOfItem(atPath: file)) ?? [:]
            let parts: [Any?] = [
                attributes[.modificationDate].map { ($0 as? Date)?.timeIntervalSince1970 ?? 0 },
                attributes[.size], attributes[.systemFileNumber],
            ]
            return parts.map { "\($0 ?? "")" }.joined(separator: "/")
        }
    }
}
