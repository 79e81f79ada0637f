import Chassis
import Foundation
import Synchronization

/// Notices changes of files, whether they are written in place or replaced.
package final class WatchedFiles: Sendable {
    private let files: [String]
    private let seen: Mutex<[String]>

    /// Create it before reading the files: a change in between is noticed.
    package init(_ files: [String]) {
        self.files = files
        seen = Mutex(Self.fingerprints(of: files))
    }

    /// Whether one has changed since the last call. Of several callers one is told.
    package func haveChanged() -> Bool {
        let found = Self.fingerprints(of: files)
        return seen.withLock { seen in
            defer { seen = found }
            return found != seen
        }
    }

    private static func fingerprints(of files: [String]) -> [String] {
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

extension Logger {
    /// A changed file is in use: logged and counted alike by every watcher.
    package func reloaded(_ subject: String) {
        Metric.trustReloads.counter("used").increment()
        notice("Reloaded \(subject)")
    }

    /// A changed file has a mistake.
    package func kept(_ subject: String, because error: any Error) {
        Metric.trustReloads.counter("unusable").increment()
        self.error("Could not reload \(subject); keeping the previous version: \(error)")
    }
}
